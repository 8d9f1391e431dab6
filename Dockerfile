# One image for all processes: one program under several names (docs/adr/0024-one-program-several-names.md), and
# millrace-postgres, which alone links libpq. The programs run on Debian 13, because Kafka 4.0 and later refuse SCRAM of
# Debian 12's librdkafka (docs/clusters.md). They are built on Debian 12, for which Swift has an image.
ARG BUILD_IMAGE=swift:6.3-bookworm
ARG RUN_IMAGE=debian:trixie-slim

FROM ${BUILD_IMAGE} AS build
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install -y --no-install-recommends librdkafka-dev libssl-dev libpq-dev pkg-config \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /millrace
COPY Package.swift Package.resolved* ./
RUN swift package resolve
COPY Sources Sources
COPY ProcessTests ProcessTests
COPY Tests Tests
COPY examples/swift-worker examples/swift-worker
# Without --no-export-dynamic a static Swift program exports every symbol: 6 MB of names, and code that only they keep.
ENV BUILD_FLAGS="--configuration release --static-swift-stdlib -Xlinker --no-export-dynamic"
# Debug information is most of the size and has no use in a pod.
# hadolint ignore=SC2086
RUN for program in millrace millrace-postgres; do \
    swift build $BUILD_FLAGS --product "$program" \
    && install -D --strip "$(swift build $BUILD_FLAGS --show-bin-path)/$program" "/out/usr/local/bin/$program" || exit 1; \
  done \
  && for name in ingress subscriptions refunds renewal-extensions consumption decoder forward worker console; do \
    ln -s millrace "/out/usr/local/bin/millrace-$name"; \
  done

FROM ${RUN_IMAGE}
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install -y --no-install-recommends librdkafka1 libssl3t64 libpq5 ca-certificates \
  && rm -rf /var/lib/apt/lists/*
COPY --from=build /out/ /
LABEL org.opencontainers.image.title="Millrace" \
  org.opencontainers.image.description="App Store Server Notifications on Kafka" \
  org.opencontainers.image.source="https://github.com/millrace/millrace" \
  org.opencontainers.image.licenses="Apache-2.0"
# An unprivileged user without a name, a home directory or files. The root file system can be read-only, and the process
# needs no capability.
USER 65532:65532
EXPOSE 8080 9090
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["/usr/local/bin/millrace", "health"]
# The ingress by default; for another process: docker run … millrace-refunds
CMD ["/usr/local/bin/millrace-ingress"]
