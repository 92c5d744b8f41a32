// SPDX-License-Identifier: Apache-2.0

package scheduling

// Step is the name of a part of an evaluation that is timed on its own: of a filter, of a prioritizer, or StepCEL. It is the name of the
// plugin upstream if it has one.
type Step string

// Recorder receives the begin and the end of each step, to record its duration. Steps do not overlap, except for StepCEL;
// StepTaintToleration begins when StepPredicate has ended. Prioritizers run when scores are first read, which may be after the evaluation
// or never, and may be in another goroutine.
type Recorder interface {
	Begin(step Step)
	End(step Step)
}

// NopRecorder records nothing.
var NopRecorder Recorder = nopRecorder{}

type nopRecorder struct{}

func (nopRecorder) Begin(Step) {}
func (nopRecorder) End(Step)   {}
