// SPDX-License-Identifier: Apache-2.0

package metrics

var (
	ofProfiles = newCollector(ProfileState{})

	profilesOfAnother = ofProfiles.gauge(hub+"clusterprofiles_owned_by_another",
		"ClusterProfiles that the hub leaves to another writer, who owns values that differ: see the Event ProfileOwnedByAnother.")

	claimsLeftOut = ofProfiles.gauge(hub+"clusterprofile_claims_left_out",
		"Claims of ManagedClusters that are no properties of a ClusterProfile, counted for each ClusterProfile, by reason: Empty, TooLong, Doubled "+
			"or TooMany.", "reason")
)

// ClaimsLeftOut counts claims that are no properties, by the reason.
type ClaimsLeftOut struct{ Empty, TooLong, Doubled, TooMany int }

// ProfileState is what the gauges count of one ClusterProfile. The zero value counts nothing.
type ProfileState struct {
	// OwnedByAnother reports that the ClusterProfile is left to another writer.
	OwnedByAnother bool
	LeftOut        ClaimsLeftOut
}

// add adds the state to the gauges. It names each reason, so that it is reported if it is 0.
func (s ProfileState) add() {
	profilesOfAnother.WithLabelValues().Add(oneIf(s.OwnedByAnother))
	claimsLeftOut.WithLabelValues("Empty").Add(float64(s.LeftOut.Empty))
	claimsLeftOut.WithLabelValues("TooLong").Add(float64(s.LeftOut.TooLong))
	claimsLeftOut.WithLabelValues("Doubled").Add(float64(s.LeftOut.Doubled))
	claimsLeftOut.WithLabelValues("TooMany").Add(float64(s.LeftOut.TooMany))
}

// ProfileStates have the state of each ClusterProfile of which the gauges count something.
type ProfileStates[K comparable] struct{ states[K, ProfileState] }

// NewProfileStates returns ProfileStates without ClusterProfiles that do not lead.
func NewProfileStates[K comparable]() *ProfileStates[K] {
	return &ProfileStates[K]{newStates[K, ProfileState](ofProfiles)}
}

// Note sets the state of a ClusterProfile.
func (s *ProfileStates[K]) Note(key K, is ProfileState) {
	if is == (ProfileState{}) {
		s.Forget(key)
		return
	}
	s.states.Note(key, is)
}
