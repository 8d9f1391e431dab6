// The error codes of the endpoints for retention messages, which this project does not call: they are here so that none
// is a mere number.

extension APIErrorCode {
  /// Uploaded image not acceptable.
  public static let invalidImage = APIErrorCode(rawValue: 4000161)
  /// Header text over the limit.
  public static let headerTooLong = APIErrorCode(rawValue: 4000162)
  /// Body text over the limit.
  public static let bodyTooLong = APIErrorCode(rawValue: 4000163)
  /// Locale not valid.
  public static let invalidLocale = APIErrorCode(rawValue: 4000164)
  /// Image alternative text over the limit.
  public static let altTextTooLong = APIErrorCode(rawValue: 4000175)
  /// Performance test request not valid.
  public static let invalidPerformanceTestRequest = APIErrorCode(rawValue: 4000211)
  /// Performance test id not valid.
  public static let invalidRequestId = APIErrorCode(rawValue: 4000212)
  /// A performance test is already there.
  public static let existingPerformanceTestRun = APIErrorCode(rawValue: 4000213)
  /// Realtime URL not valid.
  public static let badRequestRealtimeUrl = APIErrorCode(rawValue: 4000215)
  /// `imageSize` not valid.
  public static let badRequestImageSize = APIErrorCode(rawValue: 4000216)
  /// Too many bullet points.
  public static let badRequestTooManyBulletPoints = APIErrorCode(rawValue: 4000218)
  /// Bullet point text over the limit.
  public static let badRequestBulletPointTextTooLong = APIErrorCode(rawValue: 4000219)
  /// Header position ABOVE_IMAGE without an image.
  public static let badRequestAboveImageRequiresAnImage = APIErrorCode(rawValue: 4000224)
  /// Image quota used up.
  public static let maximumNumberOfImagesReached = APIErrorCode(rawValue: 4030014)
  /// Message quota used up.
  public static let maximumNumberOfMessagesReached = APIErrorCode(rawValue: 4030016)
  /// Message not approved yet.
  public static let messageNotApproved = APIErrorCode(rawValue: 4030017)
  /// Image not approved yet.
  public static let imageNotApproved = APIErrorCode(rawValue: 4030018)
  /// Image used by a message.
  public static let imageInUse = APIErrorCode(rawValue: 4030019)
  /// Production realtime URL needs a passed performance test.
  public static let forbiddenNoPassingTest = APIErrorCode(rawValue: 4030026)
  /// No such image.
  public static let imageNotFound = APIErrorCode(rawValue: 4040014)
  /// No such message.
  public static let messageNotFound = APIErrorCode(rawValue: 4040015)
  /// No such performance test.
  public static let performanceTestRunNotFound = APIErrorCode(rawValue: 4040018)
  /// No default message set.
  public static let defaultMessageNotFound = APIErrorCode(rawValue: 4040020)
  /// No realtime URL set.
  public static let realtimeUrlNotFound = APIErrorCode(rawValue: 4040021)
  /// Image id already used.
  public static let imageAlreadyExists = APIErrorCode(rawValue: 4090000)
  /// Message id already used.
  public static let messageAlreadyExists = APIErrorCode(rawValue: 4090001)

  /// What is known of these codes, in numerical order.
  static let retentionMessagingFacts: [Facts] = [
    Facts(.invalidImage, "InvalidImageError", .never, "uploaded image not acceptable"),
    Facts(.headerTooLong, "HeaderTooLongError", .never, "header text over the limit"),
    Facts(.bodyTooLong, "BodyTooLongError", .never, "body text over the limit"),
    Facts(.invalidLocale, "InvalidLocaleError", .never, "locale not valid"),
    Facts(.altTextTooLong, "AltTextTooLongError", .never, "image alternative text over the limit"),
    Facts(
      .invalidPerformanceTestRequest, "InvalidPerformanceTestRequestError", .never,
      "performance test request not valid"),
    Facts(.invalidRequestId, "InvalidRequestIdError", .never, "performance test id not valid"),
    Facts(
      .existingPerformanceTestRun, "ExistingPerformanceTestRunError", .never,
      "a performance test is already there"),
    Facts(.badRequestRealtimeUrl, "BadRequestRealtimeUrlError", .never, "realtime URL not valid"),
    Facts(.badRequestImageSize, "BadRequestImageSizeError", .never, "imageSize not valid"),
    Facts(.badRequestTooManyBulletPoints, "BadRequestTooManyBulletPointsError", .never, "too many bullet points"),
    Facts(
      .badRequestBulletPointTextTooLong, "BadRequestBulletPointTextTooLongError", .never,
      "bullet point text over the limit"),
    Facts(
      .badRequestAboveImageRequiresAnImage, "BadRequestAboveImageRequiresAnImageError", .never,
      "header position ABOVE_IMAGE without an image"),
    Facts(.maximumNumberOfImagesReached, "MaximumNumberOfImagesReachedError", .configuration, "image quota used up"),
    Facts(
      .maximumNumberOfMessagesReached, "MaximumNumberOfMessagesReachedError", .configuration,
      "message quota used up"),
    Facts(.messageNotApproved, "MessageNotApprovedError", .configuration, "message not approved yet"),
    Facts(.imageNotApproved, "ImageNotApprovedError", .configuration, "image not approved yet"),
    Facts(.imageInUse, "ImageInUseError", .never, "image used by a message"),
    Facts(
      .forbiddenNoPassingTest, "ForbiddenNoPassingTestError", .configuration,
      "production realtime URL needs a passed performance test"),
    Facts(.imageNotFound, "ImageNotFoundError", .never, "no such image"),
    Facts(.messageNotFound, "MessageNotFoundError", .never, "no such message"),
    Facts(.performanceTestRunNotFound, "PerformanceTestRunNotFoundError", .never, "no such performance test"),
    Facts(.defaultMessageNotFound, "DefaultMessageNotFoundError", .never, "no default message set"),
    Facts(.realtimeUrlNotFound, "RealtimeUrlNotFoundError", .never, "no realtime URL set"),
    Facts(.imageAlreadyExists, "ImageAlreadyExistsError", .never, "image id already used"),
    Facts(.messageAlreadyExists, "MessageAlreadyExistsError", .never, "message id already used"),
  ]
}
