// The fields that requests of the Advanced Commerce API and the objects in them have in common.

/// A request of the Advanced Commerce API. Your server sends it to Apple; see ``AdvancedCommerceInAppRequest`` for the others.
///
/// Millrace does not call this API. The types write and check the bodies for a client of your own.
public protocol AdvancedCommerceRequest: AppStoreObject {}

extension AdvancedCommerceRequest {
  /// Creates a request with the fields that are constant. It is not checked yet: see ``violations()``.
  public init(requestInfo: AdvancedCommerceRequestInfo) {
    self.init()
    for field in Self.documentedFields { json[field.name] = field.constant.map { .string($0) } }
    self.requestInfo = requestInfo
  }

  /// The metadata of the request.
  public var requestInfo: AdvancedCommerceRequestInfo? {
    get { self["requestInfo"] }
    set { self["requestInfo"] = newValue }
  }

  /// The customer's storefront, ISO 3166-1 alpha-3.
  public var storefront: String? {
    get { self["storefront"] }
    set { self["storefront"] = newValue }
  }
}

/// A request of the Advanced Commerce API that your server signs and the app passes to StoreKit.
public protocol AdvancedCommerceInAppRequest: AdvancedCommerceRequest {}

extension AdvancedCommerceInAppRequest {
  /// The name of the operation, constant for each type of request.
  public var operation: String? {
    get { self["operation"] }
    set { self["operation"] = newValue }
  }

  /// The version of the request, always `1`.
  public var version: String? {
    get { self["version"] }
    set { self["version"] = newValue }
  }
}

/// An object of the Advanced Commerce API about an item of your catalog.
public protocol AdvancedCommerceItem: AppStoreObject {}

extension AdvancedCommerceItem {
  /// The developer's identifier for the item, at most 128 characters.
  public var SKU: String? {
    get { self["SKU"] }
    set { self["SKU"] = newValue }
  }
}

/// An object of the Advanced Commerce API with texts that Apple shows to the customer.
public protocol AdvancedCommerceDescribed: AppStoreObject {}

extension AdvancedCommerceDescribed {
  /// The description shown to the customer, at most 45 characters.
  public var description: String? {
    get { self["description"] }
    set { self["description"] = newValue }
  }

  /// The name shown to the customer, at most 30 characters.
  public var displayName: String? {
    get { self["displayName"] }
    set { self["displayName"] = newValue }
  }
}
