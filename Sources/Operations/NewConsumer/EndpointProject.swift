// The files of a worker in another language: an HTTP endpoint behind `millrace-worker`.

extension ConsumerPackage {
  /// A language with a template of an endpoint.
  package enum Language: String, Sendable, Hashable, CaseIterable {
    case python, typescript, java

    /// The files, each with its path in the project. `@name@` in the text stands for the worker's name.
    fileprivate var templates: [(path: String, bytes: [UInt8])] {
      switch self {
      case .python:
        [
          (".dockerignore", PackageResources.python__dockerignore),
          (".gitignore", PackageResources.python__gitignore),
          ("Dockerfile", PackageResources.python__Dockerfile),
          ("README.md", PackageResources.python__README_md),
          ("millrace.yaml", PackageResources.python__millrace_yaml),
          ("requirements-dev.txt", PackageResources.python__requirements_dev_txt),
          ("requirements.txt", PackageResources.python__requirements_txt),
          ("server.py", PackageResources.python__server_py),
          ("test_server.py", PackageResources.python__test_server_py),
          ("test_worker.py", PackageResources.python__test_worker_py),
          ("worker.py", PackageResources.python__worker_py),
        ]
      case .typescript:
        [
          (".dockerignore", PackageResources.typescript__dockerignore),
          (".gitignore", PackageResources.typescript__gitignore),
          ("Dockerfile", PackageResources.typescript__Dockerfile),
          ("README.md", PackageResources.typescript__README_md),
          ("millrace.yaml", PackageResources.typescript__millrace_yaml),
          ("package.json", PackageResources.typescript__package_json),
          ("source/main.ts", PackageResources.typescript__source__main_ts),
          ("source/server.ts", PackageResources.typescript__source__server_ts),
          ("source/worker.ts", PackageResources.typescript__source__worker_ts),
          ("test/server.test.ts", PackageResources.typescript__test__server_test_ts),
          ("test/worker.test.ts", PackageResources.typescript__test__worker_test_ts),
          ("tsconfig.json", PackageResources.typescript__tsconfig_json),
        ]
      case .java:
        [
          (".dockerignore", PackageResources.java__dockerignore),
          (".gitignore", PackageResources.java__gitignore),
          ("Dockerfile", PackageResources.java__Dockerfile),
          ("Makefile", PackageResources.java__Makefile),
          ("README.md", PackageResources.java__README_md),
          ("millrace.yaml", PackageResources.java__millrace_yaml),
          ("source/worker/Server.java", PackageResources.java__source__worker__Server_java),
          ("source/worker/Worker.java", PackageResources.java__source__worker__Worker_java),
          ("test/worker/ServerTest.java", PackageResources.java__test__worker__ServerTest_java),
          ("test/worker/WorkerTest.java", PackageResources.java__test__worker__WorkerTest_java),
        ]
      }
    }
  }

  /// Creates the project of a worker whose handler is an HTTP endpoint.
  package init(_ name: ConsumerName, language: Language) {
    files = language.templates.map { path, bytes in
      File(path: path, text: String(decoding: bytes, as: UTF8.self).replacing("@name@", with: name.name))
    }
  }
}
