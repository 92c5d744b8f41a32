// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/test/benchmark/hostile"
	"github.com/placement-hub/placement-hub/test/benchmark/report"
)

// accountsScenario is the part of the scenario hostile in which one tenant has many ServiceAccounts. It can be measured alone.
const accountsScenario = "hostile-accounts"

// accountsBefore is how long the accounts attack before the others are measured, and accountSamples how often the others read in one phase.
const (
	accountsBefore = 12 * time.Second
	accountSamples = 120
	accountPace    = 250 * time.Millisecond
)

// What is measured of the others beside the accounts.
const (
	pageMeasure        = "page"
	explanationMeasure = "explanation"
)

// accountsPhase is what was measured without or with the accounts.
type accountsPhase struct {
	samples map[string][]time.Duration
	memory  int64 // the most that the hub has, in bytes
	sent    map[string]int64
	elapsed time.Duration
	cpu     time.Duration // of the hub
}

// measureAccounts runs that part alone.
func measureAccounts(ctx context.Context, _ *options, tools programs, directory string, log io.Writer) (_ *report.Run, err error) {
	h, err := newHostileStage(ctx, tools, directory, log)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	return h.run, perform(ctx, accountsScenario, func(ctx context.Context, _ string) error { return h.accounts(ctx) })
}

// accounts measures what the others wait for without and with the attacks of the accounts, in turn.
func (h *hostileStage) accounts(ctx context.Context) error {
	readers, err := h.readers(ctx)
	if err != nil {
		return fmt.Errorf("making the accounts of the others: %w", err)
	}
	if err := h.introduce(ctx, readers); err != nil {
		return fmt.Errorf("introducing the accounts of the others: %w", err)
	}
	attackers, err := h.hostileAccounts(ctx)
	if err != nil {
		return fmt.Errorf("making the hostile accounts: %w", err)
	}
	without, with := &accountsPhase{samples: map[string][]time.Duration{}}, &accountsPhase{samples: map[string][]time.Duration{}}
	for range hostileRounds {
		if err := h.accountsPhase(ctx, without, readers, nil); err != nil {
			return fmt.Errorf("without the accounts: %w", err)
		}
		if err := h.accountsPhase(ctx, with, readers, attackers); err != nil {
			return fmt.Errorf("with the accounts: %w", err)
		}
	}
	h.noteAccounts(withoutPhase, without)
	h.noteAccounts(withPhase, with)
	for name, n := range with.sent {
		h.run.Add(accountsScenario, name, report.Count, float64(n))
	}
	h.run.Add(accountsScenario, "more-memory", report.Bytes, float64(max(0, with.memory-without.memory)))
	return h.verify(ctx)
}

// introduce has the hub know the tokens of the others: it reviews few unknown ones of an address in a second.
func (h *hostileStage) introduce(ctx context.Context, readers []*reader) error {
	for tenant, by := range readers {
		err := poll(ctx, accountPace, func() (bool, error) {
			_, page := by.page(ctx, tenant)
			_, explanation := by.explanation(ctx, h.webhook, tenant)
			err := errors.Join(page, explanation)
			var refused *refusedError
			if errors.As(err, &refused) && refused.code == http.StatusTooManyRequests {
				return false, nil
			}
			return err == nil, err
		})
		if err != nil {
			return fmt.Errorf("tenant %d: %w", tenant, err)
		}
	}
	return nil
}

// noteAccounts adds the figures of the phases without or with the accounts.
func (h *hostileStage) noteAccounts(name string, p *accountsPhase) {
	for _, measure := range []string{pageMeasure, explanationMeasure, placementMeasure} {
		h.run.AddTime(accountsScenario, measure+"-"+name+"-p50", report.Percentile(p.samples[measure], 50))
		h.run.AddTime(accountsScenario, measure+"-"+name+"-p99", report.Percentile(p.samples[measure], 99))
	}
	h.run.Add(accountsScenario, "cpus-of-hub-"+name, report.Count, p.cpu.Seconds()/p.elapsed.Seconds())
}

// accountsPhase measures the others once.
func (h *hostileStage) accountsPhase(ctx context.Context, p *accountsPhase, readers []*reader, attackers []*hostileAccount) error {
	if _, err := h.hub.resetMemory(); err != nil {
		return err
	}
	before, err := h.hub.cpu()
	if err != nil {
		return err
	}
	begin, stop := time.Now(), attackByAccounts(ctx, attackers)
	if len(attackers) > 0 {
		if err := pause(ctx, accountsBefore); err != nil {
			return err
		}
	}
	samples, err := h.sampleReaders(ctx, readers)
	sent := stop()
	if err != nil {
		return err
	}
	peak, err := h.hub.memory()
	if err != nil {
		return err
	}
	after, err := h.hub.cpu()
	if err != nil {
		return err
	}
	p.elapsed, p.cpu, p.memory = p.elapsed+time.Since(begin), p.cpu+after-before, max(p.memory, peak)
	if p.sent == nil {
		p.sent = map[string]int64{}
	}
	for name, n := range sent {
		p.sent[name] += n
	}
	for name, times := range samples {
		p.samples[name] = append(p.samples[name], times...)
		h.logf("%s: %d hostile accounts: %s p50 %v, p99 %v", accountsScenario, len(attackers), name, report.Percentile(times, 50),
			report.Percentile(times, 99))
	}
	h.logf("%s: %d hostile accounts: the hub has %d MiB; sent %v", accountsScenario, len(attackers), peak>>20, sent)
	return h.rest(ctx)
}

// sampleReaders has the others read pages and explanations, and edit Placements, at the same time.
func (h *hostileStage) sampleReaders(ctx context.Context, readers []*reader) (map[string][]time.Duration, error) {
	samples := map[string][]time.Duration{}
	results := make([][]time.Duration, 3)
	names := []string{pageMeasure, explanationMeasure, placementMeasure}
	group, ctx := errgroup.WithContext(ctx)
	for i, one := range []func(context.Context, int) (time.Duration, error){
		func(ctx context.Context, tenant int) (time.Duration, error) { return readers[tenant].page(ctx, tenant) },
		func(ctx context.Context, tenant int) (time.Duration, error) {
			return readers[tenant].explanation(ctx, h.webhook, tenant)
		},
		h.edit,
	} {
		group.Go(func() error {
			tick := time.NewTicker(accountPace)
			defer tick.Stop()
			for n := range accountSamples {
				took, err := one(ctx, n%hostile.Others)
				if err != nil {
					return fmt.Errorf("%s of tenant %d: %w", names[i], n%hostile.Others, err)
				}
				results[i] = append(results[i], took)
				select {
				case <-ctx.Done():
				case <-tick.C:
				}
			}
			return nil
		})
	}
	err := group.Wait()
	for i, name := range names {
		samples[name] = results[i]
	}
	return samples, err //nolint:wrapcheck // Named above.
}

// page reads the page of the edited Placement of a tenant.
func (r *reader) page(ctx context.Context, tenant int) (time.Duration, error) {
	begin := time.Now()
	_, err := r.get(ctx, "/placements/"+hostile.NamespaceName(tenant)+"/"+hostile.Placement(tenant, 0).Name, nil)
	return time.Since(begin), err
}

// explanation asks for the explanation of the edited Placement of a tenant.
func (r *reader) explanation(ctx context.Context, address string, tenant int) (time.Duration, error) {
	body, err := json.Marshal(endpoint.Question{
		Namespace: hostile.NamespaceName(tenant), Output: "json",
		Objects: []endpoint.Object{{Group: "cluster.open-cluster-management.io", Kind: "Placement", Name: hostile.Placement(tenant, 0).Name}},
	})
	if err != nil {
		return 0, fmt.Errorf("encoding a question: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+address+endpoint.Path, bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("asking for an explanation: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+r.token)
	request.Header.Set("Content-Type", "application/json")
	begin := time.Now()
	response, err := r.client.Do(request)
	if err != nil {
		return 0, fmt.Errorf("asking for an explanation: %w", err)
	}
	text, err := io.ReadAll(response.Body)
	took := time.Since(begin)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return 0, fmt.Errorf("reading an explanation: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("asking for an explanation: %w: %s", &refusedError{response.StatusCode}, text)
	}
	return took, nil
}

// readers returns an account of each of the others, with the rights of its tenant.
func (h *hostileStage) readers(ctx context.Context) ([]*reader, error) {
	found := dashboardAddress.FindStringSubmatch(h.hub.output.String())
	if found == nil {
		return nil, errors.New("the hub does not say where its dashboard is")
	}
	readers := make([]*reader, hostile.Others)
	err := each(ctx, hostile.Others, func(ctx context.Context, tenant int) error {
		for _, object := range hostile.Reader(tenant) {
			if err := h.create(ctx, object); err != nil {
				return err
			}
		}
		token, err := h.token(ctx, tenant, hostile.ReaderName)
		readers[tenant] = &reader{client: &http.Client{Transport: newTransport()}, url: "https://" + found[1], token: token}
		return err
	})
	return readers, err
}

// token returns a token of a ServiceAccount of a tenant.
func (h *hostileStage) token(ctx context.Context, tenant int, account string) (string, error) {
	config, err := h.environment.ServiceAccountConfig(ctx, hostile.NamespaceName(tenant), account)
	if err != nil {
		return "", err
	}
	return config.BearerToken, nil
}

// newTransport returns a transport of one client. Nobody signed the certificates of the hub.
func newTransport() *http.Transport {
	return &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableCompression: true}
}

// hostileAccounts returns the accounts that attack, which have no rights.
func (h *hostileStage) hostileAccounts(ctx context.Context) ([]*hostileAccount, error) {
	dashboard := dashboardAddress.FindStringSubmatch(h.hub.output.String())
	accounts := make([]*hostileAccount, hostile.Accounts)
	err := each(ctx, hostile.Accounts, func(ctx context.Context, i int) error {
		name := fmt.Sprintf("hostile-%03d", i)
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: hostile.NamespaceName(hostile.Attacker), Name: name}}
		if err := h.create(ctx, account); err != nil {
			return err
		}
		token, err := h.token(ctx, hostile.Attacker, name)
		accounts[i] = &hostileAccount{number: i, token: token, dashboard: dashboard[1], explanations: h.webhook}
		return err
	})
	return accounts, err
}
