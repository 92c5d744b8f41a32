# Needs Go, make and git, nothing else; `make docker-build` also needs docker or podman. `make help` lists everything.

GO        ?= go
DATA_DIR  ?=
ONCE      ?=
ONLY      ?=
KEEP_GOING ?=
SAMPLE    ?=
RUN_ARGS  ?=
IMAGE     ?= placement-hub:$(VERSION)
ARCHS     ?= amd64,arm64
DIST      ?= dist
KEY       ?=
PUBLIC_KEY ?=
REBUILD   ?=
RELEASE   ?= $(DIST)/placement-hub-$(VERSION)
BENCH     ?= .
SIZES     ?=
SCENARIOS ?=
JSON      ?=
PODS      ?=
OBJECTS   ?=
REQUESTS  ?=
FROM      ?=
CONTAINER ?=
DURATION  ?= 10m
FACTOR    ?= 20
SEED      ?=
MUTANTS   ?= removalbudget selector clustersets inventory scheduling placement federation
MATRIX    ?= 1.33 1.34 1.35 1.36
BINDIR    ?= $(HOME)/.local/bin

# Without the paths of this directory in them, all checkouts share what the build cache has. Which modules have a vendor directory decides where
# go finds dependencies, not a setting of the user.
export GOFLAGS := $(strip $(filter-out -mod=%,$(shell $(GO) env GOFLAGS)) -trimpath)
# A workspace in a directory above is about other modules.
export GOWORK := off
# All programs and tests are built without C, so that the build cache has each package once. The race detector needs it.
export CGO_ENABLED ?= 0
# Tests are linked without debug information, which takes a third less time for each of more than a hundred programs.
GO_TEST := $(GO) test -ldflags=-s

BINARY    := bin/placement
TOOLS     := bin/tools
LINTER    := $(TOOLS)/golangci-lint
TOOL_MODS := test/tools/go.mod test/tools/go.sum
# The driver has the lists of packages, runs their tests, and builds what they need beside them. It is no `go run`, which a signal ends alone.
DRIVER := bin/test-run
TEST    = @$(GO) build -buildvcs=false -o $(DRIVER) ./test/run $(call hint,compile errors are above) \
	&& GO='$(GO)' MAKE='$(MAKE_COMMAND)' exec $(DRIVER) -only '$(ONLY)' $(if $(KEEP_GOING),-keep-going)

# The suites that show what a version of Kubernetes changes: decisions, admission, definitions, webhooks, restarts.
MATRIX_SUITES ?= localplane placement decisions access binding definitions restart v1alpha1 webhook podscheduling

# The modules that are linted; the others pin what is built of other modules. A linter of test/ocm would check most of Open Cluster Management first.
CODE_MODULES := conformance test/browser test/conformance test/envtest test/release
MODULES   := . conformance test/browser test/conformance test/controlplane test/envtest test/mutants test/ocm test/promtool test/release test/tools

# git must not answer for a repository around an unpacked archive.
GIT     := GIT_CEILING_DIRECTORIES='$(abspath $(CURDIR)/..)' git
REV     := $(GIT) describe --always --dirty --exclude='*'
VERSION ?= $(shell $(GIT) describe --tags --match='v*' --dirty 2>/dev/null || { r=$$($(REV) --abbrev=12 2>/dev/null) && echo "v0.0.0-$$r"; } || echo dev)
COMMIT  ?= $(shell $(REV) --abbrev=40 2>/dev/null || echo unknown)
CREATED ?= $(shell $(GIT) log -1 --format=%ct 2>/dev/null || echo 0)
LDFLAGS  = -X main.version=$(VERSION) -X main.commit=$(COMMIT)

# $(call release,command) runs a command of test/release. The module is separate, so that the product does not depend on what it needs.
release = $(GO) -C test/release run -mod=readonly -buildvcs=false . $(1) -root '$(CURDIR)' -version '$(VERSION)' -commit '$(COMMIT)' -created '$(CREATED)' \
	-image '$(IMAGE)' -architectures '$(ARCHS)'

# $(call hint,what to do next) after a command: prints it when the command fails, and fails.
hint = || { echo "hint: $(1)" >&2; exit 1; }

# The working tree as a git tree, untracked files included, without touching the index.
TREE = GIT_INDEX_FILE="$$tmp/index" git add --all . && GIT_INDEX_FILE="$$tmp/index" git write-tree

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL: # each step uses all cores by itself
.PHONY: help push docker-build release verify-release vulncheck test-matrix assets browser pictures assets-run assets-scheduler assets-ocm assets-agent assets-upstream build install-plugin run image test test-unit test-servers test-integration \
	test-e2e test-browser test-consumers race soak bench bench-report bench-bindings bench-core generate fmt lint verify verify-modules verify-vendor verify-generated verify-format vet clean FORCE

##@ Start here

help: ## List the targets
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z][a-z0-9-]*:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo

run: assets-run $(if $(filter federation,$(SAMPLE))$(if $(ONCE),,$(filter clusters,$(SAMPLE))),assets-agent) build ## Run hub and control plane on this machine (SAMPLE=pods: where Pods may run; SAMPLE=federation: objects in three members; SAMPLE=clusters: clusters on request; ONCE=1: settle and exit; DATA_DIR=dir: keep state; RUN_ARGS=...)
	@echo "==> run: $(BINARY) run; Ctrl-C ends it"
	@exec $(BINARY) run $(if $(SAMPLE),--sample='$(SAMPLE)') $(if $(ONCE),--once) $(if $(DATA_DIR),--data-dir='$(DATA_DIR)') $(RUN_ARGS)

##@ Build

build: ## Build bin/placement
	@echo "==> build: $(BINARY) $(VERSION)"
	@$(GO) build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o $(BINARY) ./cmd/placement \
		$(call hint,compile errors are above; after a change of go.mod run: go mod tidy && go mod vendor)

install-plugin: build ## Install bin/placement into BINDIR, also under the names that kubectl uses for its plugin and completion
	@echo "==> install-plugin: $(BINDIR)"
	@install -d '$(BINDIR)' && install -m 755 $(BINARY) '$(BINDIR)/placement' \
		&& ln -sf placement '$(BINDIR)/kubectl-placement' && ln -sf placement '$(BINDIR)/kubectl_complete-placement' \
		$(call hint,name a directory that you may write to and that is in PATH with BINDIR=...)

assets: ## Build etcd, kube-apiserver, kube-controller-manager and kubectl into bin/controlplane unless they are there (first time: 5 to 10 minutes)
	@echo "==> assets: control plane binaries; built from Go modules the first time, which takes 5 to 10 minutes"
	@$(GO) run ./test/env/assets $(call hint,building needs the Go module proxy; or point KUBEBUILDER_ASSETS at existing binaries)

# ONCE=1 of the sample fleet needs no kube-controller-manager, and kubectl is for those who change a hub that keeps running.
RUN_PROGRAMS = $(if $(ONCE),$(if $(filter-out fleet,$(SAMPLE))$(DATA_DIR)$(RUN_ARGS),kube-controller-manager),kube-controller-manager kubectl) \
	$(if $(filter pods,$(SAMPLE)),kube-scheduler)

# This target alone downloads binaries.
assets-run:
	@echo "==> run: control plane binaries, from KUBEBUILDER_ASSETS, a setup-envtest store, bin/controlplane, a download, or a build"
	@$(GO) run ./test/env/assets -programs '$(RUN_PROGRAMS)' -download \
		$(call hint,building needs the Go module proxy; or point KUBEBUILDER_ASSETS at existing binaries)

assets-scheduler: ## Build kube-scheduler besides, which binds the pods of some tests (first time: 5 to 10 minutes with the rest)
	@echo "==> assets-scheduler: control plane binaries with kube-scheduler; built from Go modules the first time"
	@$(GO) run ./test/env/assets -scheduler $(call hint,building needs the Go module proxy; or point KUBEBUILDER_ASSETS at existing binaries)

assets-ocm: ## Build OCM's work manager into bin/ocm unless they are there (first time: 5 to 15 minutes)
	@echo "==> assets-ocm: programs of Open Cluster Management; built from Go modules the first time, which takes 5 to 15 minutes"
	@$(GO) run ./test/env/assets -ocm $(call hint,building needs the Go module proxy; or point OCM_ASSETS at existing binaries)

assets-agent: ## Build OCM's work agent into bin/ocm unless it is there, for members (first time: 5 to 15 minutes)
	@echo "==> assets-agent: the work agent of Open Cluster Management; built from Go modules the first time, which takes 5 to 15 minutes"
	@$(GO) run ./test/env/assets -agent $(call hint,building needs the Go module proxy; or point OCM_ASSETS at an existing binary)

# The version from which the tests upgrade an installation: its binary and its manifests.
bin/previous/placement: test/upgrade/PREVIOUS
	@echo "==> previous: the binary and the manifests of commit $$(cat $<)"
	@rm -rf bin/previous && mkdir -p bin/previous/source
	@commit=$$(cat $<); git cat-file -e "$$commit^{commit}" 2>/dev/null || git fetch --quiet --depth=1 origin "$$commit" \
		$(call hint,the history of this clone has no commit $$commit of test/upgrade/PREVIOUS: fetch it)
	@git archive "$$(cat $<)" cmd deploy go.mod go.sum manifests pkg vendor | tar -x -C bin/previous/source
	@cd bin/previous/source && $(GO) build -trimpath -buildvcs=false -o ../placement ./cmd/placement && rm -rf cmd pkg vendor

assets-upstream: ## Build OCM's placement controller into bin/ocm unless it is there, which tests replace by the hub (first time: 5 to 15 minutes)
	@echo "==> assets-upstream: the placement controller of Open Cluster Management; built from Go modules the first time, which takes 5 to 15 minutes"
	@$(GO) run ./test/env/assets -upstream $(call hint,building needs the Go module proxy; or point OCM_ASSETS at an existing binary)

browser: ## Fetch Debian's Chromium for the browser tests into bin/browser without installing it (CHROMIUM=path: this one; CHROMIUM=found: that of this machine)
	@echo "==> browser: that of CHROMIUM, or Debian's in bin/browser, fetched the first time (100 MB)"
	@$(GO) -C test/browser run -mod=readonly ./chromium/fetch $(call hint,the browser tests need Chromium; the line above says what to do)

image: ## Build the container image without an engine: an OCI layout, and an archive for each architecture, in dist/image (ARCHS=amd64,arm64)
	@echo "==> image: $(IMAGE) for $(ARCHS), in $(DIST)/image; the first build for an architecture takes one to three minutes"
	@$(call release,image) -directory '$(abspath $(DIST))/image' $(call hint,building the tool needs the Go module proxy the first time)
	@echo "    load it:  docker load -i $(DIST)/image/placement-hub-linux-amd64.tar"
	@echo "    push it:  make push IMAGE=host/name:tag"

push: ## Push what `make image` has built to a registry, with the credentials of `docker login` (IMAGE=host/name:tag)
	@echo "==> push: $(IMAGE)"
	@$(call release,push) -directory '$(abspath $(DIST))/image' $(call hint,name a registry that you may write to: make push IMAGE=host/name:tag)

docker-build: ## Build the container image with docker or podman (IMAGE=name:tag, CONTAINER=engine)
	@for engine in $(or $(CONTAINER),docker podman); do \
		command -v "$$engine" >/dev/null 2>&1 && "$$engine" info >/dev/null 2>&1 || continue; \
		echo "==> docker-build: $(IMAGE) with $$engine"; \
		exec "$$engine" build --build-arg VERSION='$(VERSION)' --build-arg COMMIT='$(COMMIT)' --tag '$(IMAGE)' .; \
	done; \
	echo "docker-build: no working container engine found (tried: $(or $(CONTAINER),docker podman))." >&2; \
	echo "hint: install docker or podman and start it, name another with CONTAINER=..., or build without one: make image" >&2; \
	exit 1

##@ Release

release: ## Collect binaries, image, manifests, SBOM and check sums in dist/placement-hub-VERSION (KEY=file: sign them)
	@echo "==> release: $(VERSION) in $(RELEASE); the first build takes several minutes"
	@$(call release,collect) -directory '$(abspath $(DIST))' $(if $(KEY),-key '$(abspath $(KEY))') \
		$(call hint,docs/releases.md has the steps of a release)

verify-release: ## Check a release without a network (RELEASE=directory, PUBLIC_KEY=file, REBUILD=1: build the image again)
	@echo "==> verify-release: $(RELEASE)"
	@$(call release,verify) -directory '$(abspath $(RELEASE))' $(if $(PUBLIC_KEY),-public-key '$(abspath $(PUBLIC_KEY))') $(if $(REBUILD),-rebuild) \
		$(call hint,do not use what does not pass; docs/releases.md has what each check means)

vulncheck: $(TOOLS)/govulncheck ## List known vulnerabilities that the code reaches (needs a network for their database)
	@echo "==> vulncheck: govulncheck ./..."
	@$(TOOLS)/govulncheck ./... $(call hint,update the modules that are named; without a network the database cannot be read)

##@ Test

test: ## Run all tests; the first that fails ends the rest (30 minutes on two cores, the first time 75; ONLY=federation: one subject; KEEP_GOING=1: go on, and list all that failed)
	$(TEST)

test-unit: ## Run unit, property, surface and repository law tests; no server is started (ONLY=word: one subject, also below)
	$(TEST) -suites unit

test-servers: ## Run the integration, e2e, consumer, conformance and browser tests together, several packages at a time
	$(TEST) -suites integration,e2e,consumers,conformance,browser

test-integration: ## Run the suites against a real etcd and kube-apiserver
	$(TEST) -suites integration

test-e2e: ## Run the suites against the built binary as a user starts it
	$(TEST) -suites e2e

pictures: browser assets build ## Make the pictures of the dashboard in docs/pictures anew, after a change of its templates, style or samples
	@echo "==> pictures: docs/pictures, by the stories of the dashboard; 2 minutes"
	@$(GO) -C test/browser test -mod=readonly -count 1 ./stories -run TestDashboard -pictures $(call hint,see the story that failed)
	@$(GO) test ./test/laws -run TestPicturesAreOfThePages -update

test-browser: ## Run the dashboard's stories in a real browser (CHROMIUM=path: this one; CHROMIUM=found: that of this machine; CHROMIUM=none: none; also in make test)
	$(TEST) -suites browser

test-consumers: ## Run OCM's work manager on the decisions, and check that no ManifestWork is deleted that should stay
	$(TEST) -suites consumers

test-matrix: ## Run the core suites on each Kubernetes of MATRIX (1.33 1.34 1.35 1.36; once per release; each takes 5 to 10 minutes to build)
	@for version in $(MATRIX); do \
		echo "==> test-matrix: Kubernetes $$version; the first build takes 5 to 10 minutes, the tests as long"; \
		assets=$$($(GO) run ./test/env/assets -kubernetes "$$version") \
		&& KUBEBUILDER_ASSETS="$$assets" $(GO_TEST) -p 1 -count 1 -timeout 40m $(addprefix ./test/integration/,$(MATRIX_SUITES)) \
		$(call hint,one version and suite again: make test-matrix MATRIX=$$version MATRIX_SUITES=NAME); \
	done

race: assets-scheduler assets-agent $(TOOLS)/helm $(TOOLS)/helm3 $(TOOLS)/promtool ## Run unit and integration tests with the race detector (needs a C compiler; over an hour on two cores)
	@echo "==> race: unit tests, and integration tests against real servers, with the race detector; over an hour on two cores"
	@CGO_ENABLED=1 $(GO) test -race -p 2 ./cmd/... ./pkg/... ./manifests/... ./test/env/... -timeout 40m \
		$(call hint,the race detector needs a C compiler such as gcc; one package again: go test -race ./pkg/NAME)
	@packages=$$($(GO) run ./test/run -list -suites integration) && GOGC=$${GOGC:-400} CGO_ENABLED=1 $(GO) test -race -p 2 $$packages -timeout 40m \
		$(call hint,one package again: go test -race ./test/integration/NAME -v)

soak: assets ## Check properties with FACTOR times the fresh inputs (20), then churn objects and inject faults, each for DURATION (10m; SEED=n: the same attack again)
	@echo "==> soak: property tests with $(FACTOR) times the fresh inputs"
	@PROPERTY_FACTOR='$(FACTOR)' $(GO_TEST) $$(grep -rl --include='*_test.go' '/test/property"' cmd pkg | xargs -n1 dirname | sort -u | sed 's|^|./|') \
		-count 1 -timeout 0 $(call hint,the lines above say what was wrong and which command repeats it)
	@echo "==> soak: $(DURATION) of churn against a real kube-apiserver"
	@SOAK_DURATION='$(DURATION)' $(GO_TEST) ./test/soak/... -count 1 -timeout 0 -v \
		$(call hint,the lines above say what has grown)
	@echo "==> soak: $(DURATION) of random faults against a real kube-apiserver"
	@ATTACK_DURATION='$(DURATION)' ATTACK_SEED='$(SEED)' $(GO_TEST) -p 1 ./test/integration/attack/... ./test/integration/federationattack/... \
		-count 1 -timeout 0 -v \
		$(call hint,the lines above say what was wrong and which SEED repeats it)

bench: assets $(if $(findstring upstream,$(SCENARIOS)),assets-upstream) build ## Measure the hub against its floor and ideal (SIZES=5000x2000,... or all, SCENARIOS=restart,...; SCENARIOS=hostile: tenants beside a hostile one; up to an hour)
	@echo "==> bench: $(BINARY) on control planes of its own; compare ratios, not times"
	@$(GO) run ./test/benchmark/run -binary $(BINARY) -sizes '$(SIZES)' -scenarios '$(SCENARIOS)' $(if $(JSON),-json '$(JSON)') $(if $(PODS),-pods '$(PODS)') \
		$(if $(OBJECTS),-objects '$(OBJECTS)') $(if $(REQUESTS),-requests '$(REQUESTS)') \
		$(call hint,a decision that is wrong or a write too many is a bug: the lines above say which)

bench-report: assets build ## The same, and write docs/benchmark.{json,svg} and the table in docs/benchmark.md (FROM=report.json,...: of these)
	@echo "==> bench-report: $(BINARY) on control planes of its own; writes docs/benchmark.*"
	@$(GO) run ./test/benchmark/run -binary $(BINARY) -sizes '$(SIZES)' -docs docs $(if $(FROM),-from '$(FROM)') \
		$(call hint,a decision that is wrong or a write too many is a bug: the lines above say which)

bench-bindings: assets ## Count what bindings from RBAC cost on a real kube-apiserver (several minutes)
	@echo "==> bench-bindings: compare counts and ratios, not times"
	@$(GO) test -run '^$$' -bench . -benchtime 1x -timeout 60m ./test/benchmark \
		$(call hint,a count that is wrong is a bug: the line above says which)

bench-core: ## Run the Go benchmarks of the core (BENCH=regexp); compare two runs with bin/tools/benchstat
	@echo "==> bench-core: Go benchmarks matching '$(BENCH)'; times on a shared machine vary, compare in one session"
	@$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./pkg/...

# Gremlins copies the module for each worker, so it gets a checkout without what is built. The other files are of the packages below, which have
# tests of their own.
mutants: $(TOOLS)/gremlins ## Change the last commit in one place at a time, and list the changes that no test of the package sees (MUTANTS=selector: one package; hours for all)
	@echo "==> mutants: $(MUTANTS); results in bin/mutants"
	@rm -rf bin/mutants/checkout && mkdir -p bin/mutants && $(GIT) clone --quiet --shared . bin/mutants/checkout
	@set -e; for package in $(MUTANTS); do \
		echo "==> mutants: pkg/$$package"; \
		(cd bin/mutants/checkout && GO="$$(command -v $(GO))" GOCACHE='$(CURDIR)/bin/mutants/cache' PATH="$(CURDIR)/test/mutants/path:$$PATH" \
			'$(CURDIR)/$(TOOLS)/gremlins' unleash "./pkg/$$package" --exclude-files '/.+/' --workers 2 --timeout-coefficient 20 --output-statuses lt \
			--output "$(CURDIR)/bin/mutants/$$package.json"); done

##@ Change

generate: $(TOOLS)/controller-gen ## Regenerate files: deep copies, CRDs, RBAC, tables
	@echo "==> generate: go generate ./..."
	@PATH="$(CURDIR)/$(TOOLS):$$PATH" $(GO) generate ./... $(call hint,the failing directive is named above; its tools are pinned in test/tools)

fmt: $(LINTER) ## Format the Go files, sort their imports, and add the SPDX line
	@echo "==> fmt: gofmt, goimports and the SPDX line"
	@$(GO) run ./test/licenses -headers
	@$(LINTER) fmt ./...

lint: $(LINTER) ## Run golangci-lint with .golangci.yml
	@echo "==> lint: golangci-lint, about 1 minute, the first time several"
	@$(LINTER) run ./... $(call hint,mend what is listed; some of it mends itself: $(LINTER) run --fix ./...)
	@for module in $(CODE_MODULES); do \
		echo "==> lint: $$module"; \
		(cd "$$module" && '$(CURDIR)/$(LINTER)' run --config '$(CURDIR)/.golangci.yml' ./...) \
		|| { echo "hint: mend what is listed" >&2; exit 1; }; \
	done

vet: ## Run go vet
	@echo "==> vet: go vet ./..."
	@$(GO) vet ./...

##@ Check before a commit

verify: verify-format verify-modules verify-vendor verify-generated vet lint ## Check that generated files, modules, vendor, format and lint are in order
	@echo "==> verify: all in order"

verify-format:
	@echo "==> verify-format: gofmt"
	@files=$$(gofmt -l -s $(wildcard cmd conformance pkg manifests deploy test)) && test -z "$$files" \
		|| { echo "not formatted:" $$files >&2; echo "hint: run: make fmt" >&2; exit 1; }

verify-modules:
	@for module in $(MODULES); do \
		echo "==> verify-modules: $$module/go.mod is tidy"; \
		$(GO) -C "$$module" mod tidy -diff \
		|| { echo "hint: run: go -C $$module mod tidy" >&2; exit 1; }; \
	done

verify-vendor:
	@echo "==> verify-vendor: vendor/ is what go.mod asks for"
	@tmp=$$(mktemp -d) && trap 'rm -rf "$$tmp"' EXIT && $(GO) mod vendor -o "$$tmp/vendor" && diff -r vendor "$$tmp/vendor" \
		$(call hint,run: go mod vendor)

verify-generated:
	@$(GIT) rev-parse --git-dir >/dev/null 2>&1 \
		$(call hint,comparing generated files needs a git checkout; this directory is none)
	@tmp=$$(mktemp -d) && trap 'rm -rf "$$tmp"' EXIT \
		&& { ! test -f "$$(git rev-parse --git-path index)" || cp "$$(git rev-parse --git-path index)" "$$tmp/index"; } \
		&& before=$$($(TREE)) && $(MAKE) --no-print-directory generate && after=$$($(TREE)) \
		&& echo "==> verify-generated: comparing with what was there" && git diff --exit-code --stat "$$before" "$$after" \
		$(call hint,generated files were out of date and have been written anew: look at them and commit them)

##@ Other

clean: ## Remove built files; ALL=1 also removes bin/controlplane and bin/ocm, which take minutes to build, and bin/browser
	@echo "==> clean: $(BINARY) $(TOOLS) dist$(if $(ALL), and the rest of bin)"
	@rm -rf $(BINARY) $(DRIVER) bin/test-logs bin/screenshots $(TOOLS) dist $(if $(ALL),bin)

# Tools are built, not run with `go tool`, which refuses a second go.mod beside a vendor directory.
$(TOOLS)/golangci-lint: $(TOOL_MODS)
	$(call build-tool,github.com/golangci/golangci-lint/v2/cmd/golangci-lint)

$(TOOLS)/controller-gen: $(TOOL_MODS)
	$(call build-tool,sigs.k8s.io/controller-tools/cmd/controller-gen)

$(TOOLS)/helm: $(TOOL_MODS)
	$(call build-tool,helm.sh/helm/v4/cmd/helm)

# Helm 3 takes the version of Kubernetes that it assumes without a cluster from the linker, as its own Makefile sets it.
$(TOOLS)/helm3: $(TOOL_MODS)
	$(call build-tool,helm.sh/helm/v3/cmd/helm,-ldflags '-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=37')

$(TOOLS)/govulncheck: test/release/go.mod test/release/go.sum
	$(call build-tool,golang.org/x/vuln/cmd/govulncheck)

$(TOOLS)/benchstat: $(TOOL_MODS)
	$(call build-tool,golang.org/x/perf/cmd/benchstat)

$(TOOLS)/gremlins: test/mutants/go.mod test/mutants/go.sum
	$(call build-tool,github.com/go-gremlins/gremlins/cmd/gremlins)

$(TOOLS)/promtool: test/promtool/go.mod test/promtool/go.sum
	$(call build-tool,github.com/prometheus/prometheus/cmd/promtool,-tags remove_all_sd)

# $(call build-tool,package,flags) builds a tool in the module that its first prerequisite belongs to.
define build-tool
@echo "==> $@: pinned in $(<D); the first build takes a minute or two"
@$(GO) -C $(<D) build -buildvcs=false $(2) -o '$(CURDIR)/$@' $(1) $(call hint,building needs the Go module proxy the first time)
endef
