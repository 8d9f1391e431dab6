// The endpoints of the Retention Messaging API. Apple's libraries call them with the same client.

internal import AppStore

// Images and messages.
extension APIEndpoints {
  func uploadImage(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    let id = try Self.uuid(call.parameter)
    let size = try RetentionImageSize(query: try call.value("imageSize", else: .badRequestImageSize))
    try messaging.withCatalogue(of: call) { catalogue throws(APIFailure) in
      try catalogue.upload(image: id, call.body, size: size, at: call.now)
    }
    return .empty()
  }

  func deleteImage(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    let id = try Self.uuid(call.parameter)
    try messaging.withCatalogue(of: call) { catalogue throws(APIFailure) in try catalogue.delete(image: id) }
    return .empty()
  }

  func imageList(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    let images = try messaging.withCatalogue(of: call) { catalogue throws(APIFailure) in
      catalogue.imageList(at: call.now)
    }
    return .json([
      "imageIdentifiers": .array(
        images.map { image in
          [
            "imageIdentifier": .string(image.id.text), "imageState": .string(image.state.rawValue),
            "imageSize": .string(image.size.rawValue),
          ]
        })
    ])
  }

  func uploadMessage(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    let id = try Self.uuid(call.parameter)
    let message = try RetentionMessage(try call.object())
    try messaging.withCatalogue(of: call) { catalogue throws(APIFailure) in
      try catalogue.upload(message: id, message, at: call.now)
    }
    return .empty()
  }

  func deleteMessage(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    let id = try Self.uuid(call.parameter)
    try messaging.withCatalogue(of: call) { catalogue throws(APIFailure) in try catalogue.delete(message: id) }
    return .empty()
  }

  func messageList(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    let messages = try messaging.withCatalogue(of: call) { catalogue throws(APIFailure) in
      catalogue.messageList(at: call.now)
    }
    return .json([
      "messageIdentifiers": .array(
        messages.map { message in
          ["messageIdentifier": .string(message.id.text), "messageState": .string(message.state.rawValue)]
        })
    ])
  }
}

// Default messages.
extension APIEndpoints {
  func configureDefaultMessage(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    let audience = try audience(call)
    guard case .string(let text) = try call.object()["messageIdentifier"] else { throw .badRequest }
    let id = try Self.uuid(text)
    try messaging.withCatalogue(of: call) { catalogue throws(APIFailure) in
      try catalogue.setDefault(id, for: audience, at: call.now)
    }
    return .empty()
  }

  func deleteDefaultMessage(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    let audience = try audience(call)
    try messaging.withCatalogue(of: call) { catalogue throws(APIFailure) in
      try catalogue.deleteDefault(for: audience)
    }
    return .empty()
  }

  func defaultMessage(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    let audience = try audience(call)
    let id = try messaging.withCatalogue(of: call) { catalogue throws(APIFailure) in
      try catalogue.defaultMessage(for: audience)
    }
    return .json(["messageIdentifier": .string(id.text)])
  }

  /// Returns the product and locale in the path.
  private func audience(_ call: SimulatedCall) throws(APIFailure) -> MessageCatalogue.Audience {
    guard call.parameters.count == 2 else { throw .badRequest }
    let (productId, locale) = (call.parameters[0], call.parameters[1])
    try world.withState { state throws(APIFailure) in
      let products = state.realms[try realm(call, in: state)].app.products
      guard products.contains(where: { $0.productId == productId && $0.isSubscription }) else {
        throw .invalidProductId
      }
    }
    guard locale.wholeMatch(of: #/[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?/#) != nil else { throw .invalidLocale }
    return MessageCatalogue.Audience(productId: productId, locale: locale)
  }
}

// The real-time endpoint and its performance test.
extension APIEndpoints {
  func configureRealtimeURL(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    guard case .string(let url) = try call.object()["realtimeURL"] else { throw .badRequestRealtimeURL }
    try messaging.withSetup(of: call) { setup, _ throws(APIFailure) in
      try setup.configure(url, in: call.environment, at: call.now)
    }
    return .empty()
  }

  func deleteRealtimeURL(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    try messaging.withSetup(of: call) { setup, _ throws(APIFailure) in try setup.remove(in: call.environment) }
    return .empty()
  }

  func realtimeURL(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    let url = try messaging.withSetup(of: call) { setup, _ throws(APIFailure) in try setup.url(in: call.environment) }
    return .json(["realtimeURL": .string(url)])
  }

  /// "The performance test runs only in the sandbox environment."
  func initiatePerformanceTest(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    guard call.environment == .sandbox, case .string(let text) = try call.object()["originalTransactionId"] else {
      throw .invalidPerformanceTestRequest
    }
    let id = try Self.number(text, else: .invalidPerformanceTestRequest)
    try world.withState { state throws(APIFailure) in
      guard state.customer(of: id, in: try realm(call, in: state)) != nil else {
        throw .originalTransactionIdNotFound
      }
    }
    let run = try messaging.withSetup(of: call) { setup, id throws(APIFailure) in
      try setup.test(id, at: call.now)
      return id
    }
    return .json([
      "config": PerformanceReport.config(duration: messaging.settings.performanceTestDuration),
      "requestId": .string(run.text),
    ])
  }

  func performanceTestResults(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    guard let id = CompactUUID(call.parameter) else { throw .invalidRequestId }
    let run = try messaging.withSetup(of: call) { setup, _ throws(APIFailure) in try setup.run(id) }
    return .json(PerformanceReport.result(run, at: call.now))
  }

  fileprivate static func uuid(_ text: String) throws(APIFailure) -> CompactUUID {
    guard let uuid = CompactUUID(text) else { throw .badRequest }
    return uuid
  }
}
