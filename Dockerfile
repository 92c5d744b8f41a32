# Builds from vendor/ alone: no module is downloaded.
FROM --platform=$BUILDPLATFORM golang:1.26 AS builder
WORKDIR /src
COPY . .
ARG VERSION=dev
ARG COMMIT=unknown
ARG TARGETOS=linux
ARG TARGETARCH
ENV CGO_ENABLED=0 GOFLAGS=-mod=vendor GOPROXY=off GOTOOLCHAIN=local
RUN GOOS=${TARGETOS} GOARCH=${TARGETARCH} go build -trimpath -buildvcs=false \
    -ldflags "-X main.version=${VERSION} -X main.commit=${COMMIT}" -o /placement ./cmd/placement \
    && mkdir /licenses && cp LICENSE NOTICE /licenses/ && go run ./test/licenses -texts /licenses/third-party-licenses.txt

FROM gcr.io/distroless/static:nonroot
COPY --from=builder /placement /placement
COPY --from=builder /licenses /usr/share/doc/placement-hub
USER 65532:65532
# Upstream's image has none, and its manifests begin args with /placement: the program drops that.
ENTRYPOINT ["/placement"]
