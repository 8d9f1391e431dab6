// The error codes of the retention messaging endpoints. This project does not call these endpoints; the codes are here
// so that every code has a name.

extension APIErrorCode {
  /// The uploaded image is invalid.
  public static let invalidImage = APIErrorCode(rawValue: 4000161)
  /// The header text is too long.
  public static let headerTooLong = APIErrorCode(rawValue: 4000162)
  /// The body text is too long.
  public static let bodyTooLong = APIErrorCode(rawValue: 4000163)
  /// The locale is invalid.
  public static let invalidLocale = APIErrorCode(rawValue: 4000164)
  /// The alternative text of an image is too long.
  public static let altTextTooLong = APIErrorCode(rawValue: 4000175)
  /// The performance test request is invalid.
  public static let invalidPerformanceTestRequest = APIErrorCode(rawValue: 4000211)
  /// The performance test identifier is invalid.
  public static let invalidRequestId = APIErrorCode(rawValue: 4000212)
  /// A performance test is already running.
  public static let existingPerformanceTestRun = APIErrorCode(rawValue: 4000213)
  /// The realtime URL is invalid.
  public static let badRequestRealtimeUrl = APIErrorCode(rawValue: 4000215)
  /// `imageSize` is invalid.
  public static let badRequestImageSize = APIErrorCode(rawValue: 4000216)
  /// There are too many bullet points.
  public static let badRequestTooManyBulletPoints = APIErrorCode(rawValue: 4000218)
  /// The text of a bullet point is too long.
  public static let badRequestBulletPointTextTooLong = APIErrorCode(rawValue: 4000219)
  /// The header position is ABOVE_IMAGE, but there is no image.
  public static let badRequestAboveImageRequiresAnImage = APIErrorCode(rawValue: 4000224)
  /// The maximum number of images is reached.
  public static let maximumNumberOfImagesReached = APIErrorCode(rawValue: 4030014)
  /// The maximum number of messages is reached.
  public static let maximumNumberOfMessagesReached = APIErrorCode(rawValue: 4030016)
  /// The message is not yet approved.
  public static let messageNotApproved = APIErrorCode(rawValue: 4030017)
  /// The image is not yet approved.
  public static let imageNotApproved = APIErrorCode(rawValue: 4030018)
  /// A message uses the image.
  public static let imageInUse = APIErrorCode(rawValue: 4030019)
  /// A realtime URL in production requires a passed performance test.
  public static let forbiddenNoPassingTest = APIErrorCode(rawValue: 4030026)
  /// There is no such image.
  public static let imageNotFound = APIErrorCode(rawValue: 4040014)
  /// There is no such message.
  public static let messageNotFound = APIErrorCode(rawValue: 4040015)
  /// There is no such performance test.
  public static let performanceTestRunNotFound = APIErrorCode(rawValue: 4040018)
  /// There is no default message.
  public static let defaultMessageNotFound = APIErrorCode(rawValue: 4040020)
  /// There is no realtime URL.
  public static let realtimeUrlNotFound = APIErrorCode(rawValue: 4040021)
  /// The image identifier is already in use.
  public static let imageAlreadyExists = APIErrorCode(rawValue: 4090000)
  /// The message identifier is already in use.
  public static let messageAlreadyExists = APIErrorCode(rawValue: 4090001)

  /// The name, class and meaning of these codes, in numerical order.
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
