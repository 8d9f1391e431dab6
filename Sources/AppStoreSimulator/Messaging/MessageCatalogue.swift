// The images, messages and default messages of one app in one environment.

internal import AppStore

/// The uploaded images and messages, and the default messages.
struct MessageCatalogue: Sendable, Hashable {
  /// The state of Apple's review.
  enum ReviewState: String, Sendable, Hashable {
    case pending = "PENDING"
    case approved = "APPROVED"
  }

  /// The product and locale that a default message applies to.
  struct Audience: Sendable, Hashable {
    var productId: String
    var locale: String
  }

  private struct Image: Sendable, Hashable {
    var size: RetentionImageSize
    var uploaded: Timestamp
  }

  private struct Message: Sendable, Hashable {
    var content: RetentionMessage
    var uploaded: Timestamp
  }

  private let reviewDelay: Duration
  private let capacity: Int
  private var images: [CompactUUID: Image] = [:]
  private var messages: [CompactUUID: Message] = [:]
  private var defaults: [Audience: CompactUUID] = [:]

  init(reviewDelay: Duration, capacity: Int) {
    self.reviewDelay = reviewDelay
    self.capacity = capacity
  }

  private func state(uploaded: Timestamp, _ now: Timestamp) -> ReviewState {
    now - uploaded >= reviewDelay ? .approved : .pending
  }

  // MARK: Images

  mutating func upload(
    image id: CompactUUID, _ bytes: [UInt8], size: RetentionImageSize, at now: Timestamp
  ) throws(APIFailure) {
    guard let header = PNGHeader(bytes), header.isAcceptable(as: size) else { throw .invalidImage }
    guard images[id] == nil else { throw .imageAlreadyExists }
    guard images.count < capacity else { throw .maximumNumberOfImagesReached }
    images[id] = Image(size: size, uploaded: now)
  }

  mutating func delete(image id: CompactUUID) throws(APIFailure) {
    guard images[id] != nil else { throw .imageNotFound }
    guard !messages.values.contains(where: { $0.content.images.contains(id) }) else { throw .imageInUse }
    images[id] = nil
  }

  /// All images in upload order.
  func imageList(at now: Timestamp) -> [(id: CompactUUID, state: ReviewState, size: RetentionImageSize)] {
    images.sorted { ($0.value.uploaded, $0.key.text) < ($1.value.uploaded, $1.key.text) }
      .map { ($0.key, state(uploaded: $0.value.uploaded, now), $0.value.size) }
  }

  // MARK: Messages

  mutating func upload(
    message id: CompactUUID, _ content: RetentionMessage, at now: Timestamp
  ) throws(APIFailure) {
    guard messages[id] == nil else { throw .messageAlreadyExists }
    guard content.images.allSatisfy({ images[$0] != nil }) else { throw .imageNotFound }
    guard messages.count < capacity else { throw .maximumNumberOfMessagesReached }
    messages[id] = Message(content: content, uploaded: now)
  }

  /// Apple documents no error for deleting a default message; deletion also removes the default.
  mutating func delete(message id: CompactUUID) throws(APIFailure) {
    guard messages.removeValue(forKey: id) != nil else { throw .messageNotFound }
    defaults = defaults.filter { $0.value != id }
  }

  /// All messages in upload order.
  func messageList(at now: Timestamp) -> [(id: CompactUUID, state: ReviewState)] {
    messages.sorted { ($0.value.uploaded, $0.key.text) < ($1.value.uploaded, $1.key.text) }
      .map { ($0.key, state(uploaded: $0.value.uploaded, now)) }
  }

  // MARK: Default messages

  mutating func setDefault(_ id: CompactUUID, for audience: Audience, at now: Timestamp) throws(APIFailure) {
    guard let message = messages[id] else { throw .messageNotFound }
    guard state(uploaded: message.uploaded, now) == .approved else { throw .messageNotApproved }
    for image in message.content.images {
      guard let image = images[image] else { throw .imageNotFound }
      guard state(uploaded: image.uploaded, now) == .approved else { throw .imageNotApproved }
    }
    defaults[audience] = id
  }

  mutating func deleteDefault(for audience: Audience) throws(APIFailure) {
    guard defaults.removeValue(forKey: audience) != nil else { throw .defaultMessageNotFound }
  }

  func defaultMessage(for audience: Audience) throws(APIFailure) -> CompactUUID {
    guard let id = defaults[audience] else { throw .defaultMessageNotFound }
    return id
  }
}
