# One image for every process. The program is one, under several names: docs/adr/0024-one-program-several-names.md
ARG BUILD_IMAGE=swift:6.3-bookworm
ARG RUN_IMAGE=debian:bookworm-slim

FROM ${BUILD_IMAGE} AS build
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install -y --no-install-recommends librdkafka-dev libssl-dev pkg-config \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /millrace
COPY Package.swift Package.resolved* ./
RUN swift package resolve
COPY Sources Sources
COPY Tests Tests
# A static Swift program exports every symbol unless it is told not to: six megabytes of names, and what only they keep.
ENV BUILD_FLAGS="--configuration release --static-swift-stdlib -Xlinker --no-export-dynamic"
# Debug information is most of the size, and nobody reads it in a pod.
# hadolint ignore=SC2086
RUN swift build $BUILD_FLAGS --product millrace \
  && install -D --strip "$(swift build $BUILD_FLAGS --show-bin-path)/millrace" /out/usr/local/bin/millrace \
  && for name in ingress refunds renewal-extensions consumption forward console; do \
    ln -s millrace "/out/usr/local/bin/millrace-$name"; \
  done
COPY topics /out/etc/millrace/topics

FROM ${RUN_IMAGE}
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install -y --no-install-recommends librdkafka1 libssl3 ca-certificates \
  && rm -rf /var/lib/apt/lists/*
COPY --from=build /out/ /
# Where the topics of this release are; the rest of the configuration is the deployment's.
ENV MILLRACE_TOPICS_DIRECTORY=/etc/millrace/topics
LABEL org.opencontainers.image.title="Millrace" \
  org.opencontainers.image.description="App Store Server Notifications on Kafka" \
  org.opencontainers.image.source="https://github.com/millrace/millrace" \
  org.opencontainers.image.licenses="Apache-2.0"
# Nobody: no name, no home, nothing of theirs on the disk. The root may be read-only, and no capability is needed.
USER 65532:65532
EXPOSE 8080 9090
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["/usr/local/bin/millrace", "health"]
# The ingress, unless another name is asked for: docker run … millrace-refunds
CMD ["/usr/local/bin/millrace-ingress"]
