// The errors of the Retention Messaging API.

extension APIFailure {
  static let invalidImage = APIFailure(4_000_161, "Invalid request. The image is invalid.")
  static let headerTooLong = APIFailure(4_000_162, "Invalid request. The header is too long.")
  static let bodyTooLong = APIFailure(4_000_163, "Invalid request. The body is too long.")
  static let invalidLocale = APIFailure(4_000_164, "Invalid request. The locale is invalid.")
  static let altTextTooLong = APIFailure(4_000_175, "Invalid request. The alternative text is too long.")
  static let invalidPerformanceTestRequest = APIFailure(
    4_000_211, "Invalid request. The performance test request is invalid.")
  static let invalidRequestId = APIFailure(4_000_212, "Invalid request. The request id is invalid.")
  static let existingPerformanceTestRun = APIFailure(4_000_213, "A performance test is already running.")
  static let badRequestRealtimeURL = APIFailure(4_000_215, "Invalid request. The real-time URL is invalid.")
  static let badRequestImageSize = APIFailure(4_000_216, "Invalid request. The image size is invalid.")
  static let tooManyBulletPoints = APIFailure(4_000_218, "Invalid request. There are too many bullet points.")
  static let bulletPointTextTooLong = APIFailure(4_000_219, "Invalid request. The text of a bullet point is too long.")
  static let aboveImageRequiresAnImage = APIFailure(
    4_000_224, "Invalid request. A header above the image requires an image.")
  static let maximumNumberOfImagesReached = APIFailure(4_030_014, "The maximum number of images is reached.")
  static let maximumNumberOfMessagesReached = APIFailure(4_030_016, "The maximum number of messages is reached.")
  static let messageNotApproved = APIFailure(4_030_017, "The message isn't in the approved state.")
  static let imageNotApproved = APIFailure(4_030_018, "The image isn't in the approved state.")
  static let imageInUse = APIFailure(4_030_019, "The image is in use as part of a message.")
  static let noPassingTest = APIFailure(4_030_026, "Production requires a passed performance test.")
  static let imageNotFound = APIFailure(4_040_014, "Image not found.")
  static let messageNotFound = APIFailure(4_040_015, "Message not found.")
  static let performanceTestRunNotFound = APIFailure(4_040_018, "Performance test run not found.")
  static let defaultMessageNotFound = APIFailure(4_040_020, "Default message not found.")
  static let realtimeURLNotFound = APIFailure(4_040_021, "Real-time URL not found.")
  static let imageAlreadyExists = APIFailure(4_090_000, "An image with this identifier already exists.")
  static let messageAlreadyExists = APIFailure(4_090_001, "A message with this identifier already exists.")
}
