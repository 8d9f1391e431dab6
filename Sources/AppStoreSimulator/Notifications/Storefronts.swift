// Apple's storefront identifiers.

/// The storefronts that customers of a scenario can have.
package enum Storefronts {
  private static let identifiers: [String: String] = [
    "USA": "143441", "FRA": "143442", "DEU": "143443", "GBR": "143444", "AUT": "143445", "BEL": "143446",
    "FIN": "143447", "GRC": "143448", "IRL": "143449", "ITA": "143450", "LUX": "143451", "NLD": "143452",
    "PRT": "143453", "ESP": "143454", "CAN": "143455", "SWE": "143456", "NOR": "143457", "DNK": "143458",
    "CHE": "143459", "AUS": "143460", "NZL": "143461", "JPN": "143462", "HKG": "143463", "SGP": "143464",
    "CHN": "143465", "KOR": "143466", "IND": "143467", "MEX": "143468", "TWN": "143470", "POL": "143478",
    "TUR": "143480", "BRA": "143503", "ARG": "143505",
  ]

  /// Every storefront of the App Store (App Store Connect Help, "App Store localizations"). Requests can name any of
  /// them.
  private static let known = Set(
    """
    AFG AGO AIA ALB ARE ARG ARM ATG AUS AUT AZE BEL BEN BFA BGR BHR BHS BIH BLR BLZ BMU BOL BRA BRB BRN \
    BTN BWA CAN CHE CHL CHN CIV CMR COD COG COL CPV CRI CYM CYP CZE DEU DMA DNK DOM DZA ECU EGY ESP EST \
    FIN FJI FRA FSM GAB GBR GEO GHA GMB GNB GRC GRD GTM GUY HKG HND HRV HUN IDN IND IRL IRQ ISL ISR ITA \
    JAM JOR JPN KAZ KEN KGZ KHM KNA KOR KWT LAO LBN LBR LBY LCA LKA LTU LUX LVA MAC MAR MDA MDG MDV MEX \
    MKD MLI MLT MMR MNE MNG MOZ MRT MSR MUS MWI MYS NAM NER NGA NIC NLD NOR NPL NRU NZL OMN PAK PAN PER \
    PHL PLW PNG POL PRT PRY QAT ROU RUS RWA SAU SEN SGP SLB SLE SLV SRB STP SUR SVK SVN SWE SWZ SYC TCA \
    TCD THA TJK TKM TON TTO TUN TUR TWN TZA UGA UKR URY USA UZB VCT VEN VGB VNM VUT XKS YEM ZAF ZMB ZWE
    """.split(separator: " ").map { String($0) })

  /// Whether the App Store has a storefront with this code.
  static func isKnown(_ code: String) -> Bool { known.contains(code) }

  /// The codes that customers of a scenario can have, sorted.
  package static var codes: [String] { identifiers.keys.sorted() }

  /// `storefrontId` for a three-letter code; the identifier of the United States if the code is unknown.
  package static func identifier(_ code: String) -> String { identifiers[code] ?? "143441" }
}
