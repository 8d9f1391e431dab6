// The settings of the worker `subscriptions`.

package import MillraceCore

/// The settings of the worker `subscriptions`.
package struct SubscriptionsSettings: WorkerSettings, Hashable {
  /// How long after its end a subscription still counts, because Apple may report a renewal late. After that time the
  /// worker asks Apple.
  package var entitlementMargin = Duration.seconds(3_600)

  /// The defaults.
  package init() {}

  /// The keys.
  package static let table = SettingTable<SubscriptionsSettings>([
    Setting(
      "entitlementMargin", \.entitlementMargin, .duration(.seconds(60)...Duration.seconds(604_800)),
      "How long a customer stays entitled after the end of a period that no notification has explained yet. After that "
        + "time the worker asks Apple.")
  ])
}
