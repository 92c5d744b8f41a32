// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/placement-hub/placement-hub/manifests"
)

// openEndpoint lets the benchmark read the metrics without questions to the API server, which would count as the hub's.
const openEndpoint = `apiVersion: operator.openshift.io/v1alpha1
kind: GenericOperatorConfig
authentication: {disabled: true}
authorization: {disabled: true}
`

// hub is a running `placement controller`.
type hub struct {
	*process
	url    string
	client *http.Client
}

var servingAddress = regexp.MustCompile(`"Serving HTTPS" address="([^"]+)"`)

// startHub starts the binary with some controllers and further flags, and returns when it serves.
func startHub(ctx context.Context, binary, directory, kubeconfig, controllers string, flags ...string) (*hub, error) {
	config := filepath.Join(directory, "controller.yaml")
	if _, err := os.Stat(config); err != nil { // A hub ends when its configuration changes, and another one may be running.
		if err := os.WriteFile(config, []byte(openEndpoint), 0o600); err != nil {
			return nil, err
		}
	}
	p, err := startProcess(ctx, binary, append([]string{
		"controller", "--kubeconfig=" + kubeconfig, "--config=" + config, "--controllers=" + controllers,
		"--listen=127.0.0.1:0", "--namespace=" + manifests.Namespace, "--disable-leader-election",
	}, flags...)...)
	if err != nil {
		return nil, err
	}
	// Nobody signed the certificate of the endpoint.
	h := &hub{process: p, client: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}}
	err = p.awaitOutput(ctx, func(text string) bool {
		found := servingAddress.FindStringSubmatch(text)
		if found != nil {
			h.url = "https://" + found[1]
		}
		return found != nil
	})
	return h, err
}

// awaitReady waits until the hub says that it is ready.
func (h *hub) awaitReady(ctx context.Context) error {
	return poll(ctx, 20*time.Millisecond, func() (bool, error) {
		response, err := h.get(ctx, "/readyz")
		if err != nil {
			return false, h.ended() // It listens before it answers.
		}
		return response.StatusCode == http.StatusOK, response.Body.Close()
	})
}

func (h *hub) get(ctx context.Context, path string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, h.url+path, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("asking the hub for %s: %w", path, err)
	}
	response, err := h.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking the hub for %s: %w", path, err)
	}
	return response, nil
}

// counters are what the hub says of itself.
type counters struct {
	// requests by method, placements added to the queue by cause, and Events by what became of them.
	requests, enqueues, events map[string]float64
	evaluations                float64
	// reviews of pod scheduling policies.
	reviews float64
	// checks counts comparisons of removals with the API server by the upper bound of their seconds, cumulatively.
	checks map[string]float64
	// grants are the writes for ClusterRequests by result.
	grants map[string]float64
}

// counters reads the metrics.
func (h *hub) counters(ctx context.Context) (counters, error) {
	response, err := h.get(ctx, "/metrics")
	if err != nil {
		return counters{}, err
	}
	text, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return counters{}, fmt.Errorf("reading the metrics of the hub: %w", err)
	}
	return counters{
		requests:    byLabel(text, "rest_client_requests_total", "method"),
		enqueues:    byLabel(text, "placement_hub_enqueues_total", "cause"),
		evaluations: sum(byLabel(text, "scheduling_scheduling_duration_seconds_count", "name")),
		reviews:     byLabel(text, "kupid_aggr_requests_total", "type")["processed"],
		events:      byLabel(text, "placement_hub_events_total", "result"),
		checks:      byLabel(text, "placement_hub_removal_check_duration_seconds_bucket", "le"),
		grants:      byLabel(text, "placement_hub_clusterrequest_writes_total", "result"),
	}, nil
}

// drain waits until the hub has sent all its Events, which it does behind everything else: quiet as it is, it may be at that for minutes. It
// asks every lull, which is longer than the hub's pauses between two Events. It returns the CPU time until then, less that of asking,
// and the last counters.
func (h *hub) drain(ctx context.Context, lull time.Duration) (time.Duration, counters, error) {
	asking := time.Duration(0)
	for last := -1.0; ; {
		before, err := h.cpu()
		if err != nil {
			return 0, counters{}, err
		}
		now, err := h.counters(ctx)
		if err != nil {
			return 0, counters{}, err
		}
		if sum(now.events) == last {
			return before - asking, now, nil
		}
		last = sum(now.events)
		after, err := h.cpu()
		if err != nil {
			return 0, counters{}, err
		}
		asking += after - before
		if err := pause(ctx, lull); err != nil {
			return 0, counters{}, err
		}
	}
}

// byLabel adds up the values of a series in the text format of Prometheus by one of its labels. It trusts that no value of a label has a
// quote, comma or brace in it, as those of these series have not.
func byLabel(text []byte, series, label string) map[string]float64 {
	sums := map[string]float64{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		rest, found := strings.CutPrefix(lines.Text(), series+"{")
		labels, number, whole := strings.Cut(rest, "} ")
		value, err := strconv.ParseFloat(number, 64)
		if !found || !whole || err != nil {
			continue
		}
		for pair := range strings.SplitSeq(labels, ",") {
			if quoted, found := strings.CutPrefix(pair, label+"="); found {
				sums[strings.Trim(quoted, `"`)] += value
			}
		}
	}
	return sums
}

// sum adds up all values of a counter.
func sum(values map[string]float64) float64 {
	total := 0.0
	for _, value := range values {
		total += value
	}
	return total
}

// less are the values of counters after some time less those before it, without those that stood still.
func less(after, before map[string]float64) map[string]float64 {
	grown := map[string]float64{}
	for key, value := range after {
		if value > before[key] {
			grown[key] = value - before[key]
		}
	}
	return grown
}

// median finds the median of a histogram by the cumulative counts of its buckets, as Prometheus does: by interpolation within a bucket. It is 0
// for an empty one.
func median(buckets map[string]float64) time.Duration {
	bounds := make([]float64, 0, len(buckets))
	counts := make(map[float64]float64, len(buckets))
	for text, count := range buckets {
		if bound, err := strconv.ParseFloat(text, 64); err == nil {
			bounds = append(bounds, bound)
			counts[bound] = count
		}
	}
	slices.Sort(bounds)
	lower, below := 0.0, 0.0
	for _, bound := range bounds {
		half := counts[bounds[len(bounds)-1]] / 2
		if counts[bound] >= half && counts[bound] > 0 {
			if math.IsInf(bound, 1) {
				bound = lower
			}
			return time.Duration((lower + (bound-lower)*(half-below)/max(counts[bound]-below, 1)) * float64(time.Second))
		}
		lower, below = bound, counts[bound]
	}
	return 0
}

// written are the requests that may change something. At a start that includes questions about the hub's own rights, which are created.
func (c counters) written() float64 {
	return c.requests[http.MethodPost] + c.requests[http.MethodPatch] + c.requests[http.MethodPut] + c.requests[http.MethodDelete]
}
