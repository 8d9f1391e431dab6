// Apple's numbers for its storefronts.

/// The storefronts that customers of a scenario can live in.
public enum Storefronts {
  private static let identifiers: [String: String] = [
    "USA": "143441", "FRA": "143442", "DEU": "143443", "GBR": "143444", "AUT": "143445", "BEL": "143446",
    "FIN": "143447", "GRC": "143448", "IRL": "143449", "ITA": "143450", "LUX": "143451", "NLD": "143452",
    "PRT": "143453", "ESP": "143454", "CAN": "143455", "SWE": "143456", "NOR": "143457", "DNK": "143458",
    "CHE": "143459", "AUS": "143460", "NZL": "143461", "JPN": "143462", "HKG": "143463", "SGP": "143464",
    "CHN": "143465", "KOR": "143466", "IND": "143467", "MEX": "143468", "TWN": "143470", "POL": "143478",
    "TUR": "143480", "BRA": "143503", "ARG": "143505",
  ]

  /// The codes that can be used, sorted.
  public static var codes: [String] { identifiers.keys.sorted() }

  /// `storefrontId` of a three-letter code; that of the United States for one that is not known.
  public static func identifier(_ code: String) -> String { identifiers[code] ?? "143441" }
}
