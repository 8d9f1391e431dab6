// A worker imports this module alone: the values that its API takes and returns come with it.

@_exported public import MillraceCore
@_exported public import MillraceRecords
