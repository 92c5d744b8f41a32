// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"

	"github.com/openshift/library-go/pkg/crypto"
)

const (
	day = 24 * time.Hour
	// rounding is the error of the times in certificates, which are in seconds.
	rounding = 2 * time.Second
)

var (
	begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	hosts = []string{"127.0.0.1", "placement-webhook.hub.svc"}
)

// failer has the methods that tests and properties share.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func next(t failer, held Material, at time.Time) (Material, time.Time) {
	t.Helper()
	after, again, err := Standard().Next(held, hosts, at)
	if err != nil {
		t.Fatalf("Next at %v: %v", at, err)
	}
	if !again.After(at) {
		t.Fatalf("to be asked at %v again at %v", at, again)
	}
	return after, again
}

// trusts reports whether a client with a bundle trusts the serving certificate at that time.
func trusts(t failer, bundle []byte, served Material, at time.Time) error {
	t.Helper()
	pair, err := tls.X509KeyPair(served.Certificate, served.Key)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	for _, host := range hosts {
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: at, DNSName: host}); err != nil {
			return err
		}
	}
	return nil
}

func authoritiesOf(t failer, material Material) []*x509.Certificate {
	t.Helper()
	found, err := crypto.CertsFromPEM(material.Bundle)
	if err != nil {
		t.Fatalf("reading the bundle: %v", err)
	}
	return found
}

func TestNext(t *testing.T) {
	first, _ := next(t, Material{}, begin)
	foreign, _ := next(t, Material{}, begin)
	with := func(change func(*Material)) Material {
		material := first
		change(&material)
		return material
	}
	otherHosts, _, err := Standard().Next(Material{}, []string{"elsewhere.example.com"}, begin)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		reason      string
		held        Material
		after       time.Duration
		authorities int // in the bundle
		authority   bool
		serving     bool // made anew
	}{
		{reason: "nothing is held", held: Material{}, authorities: 1, authority: true, serving: true},
		{reason: "nothing is due", held: first, after: 59 * day, authorities: 1},
		{reason: "a serving certificate is renewed after 60 of its 90 days", held: first, after: 61 * day, authorities: 1, serving: true},
		{reason: "one that has expired, too", held: first, after: 100 * day, authorities: 1, serving: true},
		{reason: "an authority after 243 of its 365 days; nobody uses it yet", held: renewedAt(t, first, 200*day), after: 244 * day,
			authorities: 2, authority: true},
		{reason: "one that has expired leaves, and takes what it signed along", held: first, after: 366 * day,
			authorities: 1, authority: true, serving: true},
		{reason: "other host names", held: otherHosts, authorities: 1, serving: true},
		{reason: "no bundle", held: with(func(m *Material) { m.Bundle = nil }), authorities: 1, authority: true, serving: true},
		{reason: "a bundle that nobody can read", held: with(func(m *Material) { m.Bundle = []byte("edited") }),
			authorities: 1, authority: true, serving: true},
		{reason: "an authority without its key vouches until the next one is trusted", held: with(func(m *Material) { m.AuthorityKey = nil }),
			authorities: 2, authority: true},
		{reason: "or with the key of another", held: with(func(m *Material) { m.AuthorityKey = foreign.AuthorityKey }),
			authorities: 2, authority: true},
		{reason: "no certificate", held: with(func(m *Material) { m.Certificate = nil }), authorities: 1, serving: true},
		{reason: "a key that nobody can read", held: with(func(m *Material) { m.Key = []byte("edited") }), authorities: 1, serving: true},
		{reason: "the key of another certificate", held: with(func(m *Material) { m.Key = foreign.Key }), authorities: 1, serving: true},
		{reason: "a certificate that nobody vouches for", authorities: 1, serving: true,
			held: with(func(m *Material) { m.Certificate, m.Key = foreign.Certificate, foreign.Key })},
		{reason: "an authority that stands there twice", authorities: 1,
			held: with(func(m *Material) { m.Bundle = append(append([]byte{}, m.Bundle...), m.Bundle...) })},
		{reason: "a certificate in the bundle that is no authority", authorities: 1,
			held: with(func(m *Material) { m.Bundle = append(append([]byte{}, m.Bundle...), m.Certificate...) })},
		{reason: "a clock that went back", held: first, after: -day, authorities: 2, authority: true, serving: true},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			at := begin.Add(tc.after)
			got, _ := next(t, tc.held, at)
			if n := len(authoritiesOf(t, got)); n != tc.authorities {
				t.Errorf("%d authorities, want %d", n, tc.authorities)
			}
			if made := !bytes.Equal(got.AuthorityKey, tc.held.AuthorityKey); made != tc.authority {
				t.Errorf("an authority was made: %t, want %t", made, tc.authority)
			}
			if made := !bytes.Equal(got.Certificate, tc.held.Certificate); made != tc.serving {
				t.Errorf("a serving certificate was made: %t, want %t", made, tc.serving)
			}
			if err := trusts(t, got.Bundle, got, at); err != nil {
				t.Errorf("it would not be trusted: %v", err)
			}
			if again, _ := next(t, got, at); !again.Equal(got) {
				t.Error("it is not settled at once")
			}
		})
	}
}

// renewedAt returns the Material after the serving certificate was renewed.
func renewedAt(t *testing.T, held Material, after time.Duration) Material {
	t.Helper()
	renewed, _ := next(t, held, begin.Add(after))
	return renewed
}

// A year and a half without a disturbance, with a call at each time that Next returns.
func TestRotation(t *testing.T) {
	held, again := next(t, Material{}, begin)
	type change struct {
		after              time.Duration
		authority, serving bool
		authorities        int
	}
	var got []change
	for again.Before(begin.Add(400 * day)) {
		after, later := next(t, held, again)
		if after.Equal(held) {
			t.Fatalf("nothing was due at %v", again)
		}
		got = append(got, change{
			after:       again.Sub(begin).Round(time.Hour),
			authority:   !bytes.Equal(after.AuthorityKey, held.AuthorityKey),
			serving:     !bytes.Equal(after.Certificate, held.Certificate),
			authorities: len(authoritiesOf(t, after)),
		})
		held, again = after, later
	}
	third := 365 * day / 3
	want := []change{
		{after: 60 * day, serving: true, authorities: 1}, {after: 120 * day, serving: true, authorities: 1},
		{after: 180 * day, serving: true, authorities: 1}, {after: 240 * day, serving: true, authorities: 1},
		{after: 2 * third, authority: true, authorities: 2}, {after: 2*third + time.Hour, serving: true, authorities: 2},
		{after: 2*third + time.Hour + 60*day, serving: true, authorities: 2},
		{after: 2*third + time.Hour + 120*day, serving: true, authorities: 2}, {after: 365 * day, authorities: 1},
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i].authority != want[i].authority || got[i].serving != want[i].serving ||
			got[i].authorities != want[i].authorities || (got[i].after-want[i].after).Abs() > time.Hour {
			t.Fatalf("changes:\n%+v\nwant, give or take an hour:\n%+v", got, want)
		}
	}
}

// A new authority is in the bundle for Trust before a certificate that only it has signed is served, however far behind a clock may be.
func TestANewAuthorityWaitsForTrust(t *testing.T) {
	for _, schedule := range []Schedule{
		Standard(),
		{Authority: 365 * day, Serving: 90 * day, Trust: time.Hour, Skew: 2 * time.Hour},
		{Authority: 365 * day, Serving: 90 * day, Trust: time.Minute, Skew: 30 * day},
	} {
		ask := func(held Material, at time.Time) (Material, time.Time) {
			t.Helper()
			after, again, err := schedule.Next(held, hosts, at)
			if err != nil {
				t.Fatalf("Next at %v: %v", at, err)
			}
			return after, again
		}
		held, _ := ask(Material{}, begin)
		held, _ = ask(held, begin.Add(200*day))
		made := begin.Add(245 * day)
		rotated, again := ask(held, made)
		if len(authoritiesOf(t, rotated)) != 2 || !bytes.Equal(rotated.Certificate, held.Certificate) {
			t.Fatalf("%+v: want a second authority, and what was served before", schedule)
		}
		if trusted := made.Add(schedule.Trust); again.Sub(trusted).Abs() > rounding {
			t.Errorf("%+v: to be asked again after %v", schedule, again.Sub(made))
		}
		for _, tc := range []struct {
			reason string
			after  time.Duration
			want   bool // another certificate
		}{
			{reason: "by a clock that is behind", after: -schedule.Skew + rounding},
			{reason: "at once"},
			{reason: "a moment before", after: schedule.Trust - rounding},
			{reason: "then", after: schedule.Trust + rounding, want: true},
		} {
			after, _ := ask(rotated, made.Add(tc.after))
			if changed := !bytes.Equal(after.Certificate, held.Certificate); changed != tc.want {
				t.Errorf("%+v, %s: another certificate is served: %t, want %t", schedule, tc.reason, changed, tc.want)
			}
		}
	}
}
