package scheduling

// Step is a part of an evaluation.
type Step uint8

// The steps: filters and the evaluation of CEL, which is a part of StepPredicate, and prioritizers.
const (
	StepPredicate Step = iota
	StepTaintToleration
	StepCEL
	StepBalance
	StepSteady
	StepResourceAllocatableCPU
	StepResourceAllocatableMemory
	StepSpread
	StepAddOn
)

// Steps are all of them.
func Steps() []Step {
	return []Step{
		StepPredicate, StepTaintToleration, StepCEL, StepBalance, StepSteady, StepResourceAllocatableCPU, StepResourceAllocatableMemory,
		StepSpread, StepAddOn,
	}
}

// String is the name that the step has upstream, where there is one: that of a plugin.
func (s Step) String() string {
	return [...]string{
		"Predicate", "TaintToleration", "CEL", Balance, Steady, ResourceAllocatableCPU, ResourceAllocatableMemory, SpreadScore, "AddOn",
	}[s]
}

// Filter reports whether the step is a filter.
func (s Step) Filter() bool { return s < StepCEL }

// Prioritizer reports whether the step is a prioritizer.
func (s Step) Prioritizer() bool { return s > StepCEL }

// Recorder is told when a step of an evaluation begins and when it has ended, so that somebody who has a clock can time it. Steps do not
// overlap, but for StepCEL; StepTaintToleration begins as soon as StepPredicate has ended. Prioritizers are told of when scores are first
// asked for, which may be after the evaluation or never, and then perhaps by another goroutine.
type Recorder interface {
	Begin(step Step)
	End(step Step)
}

// NopRecorder is for whoever does not want to know.
var NopRecorder Recorder = nopRecorder{}

type nopRecorder struct{}

func (nopRecorder) Begin(Step) {}
func (nopRecorder) End(Step)   {}

// step is the step of the prioritizer. What clusters report has one for all its scores, whose names anybody may choose.
func (p Prioritizer) step() Step {
	switch p.BuiltIn {
	case Balance:
		return StepBalance
	case Steady:
		return StepSteady
	case ResourceAllocatableCPU:
		return StepResourceAllocatableCPU
	case ResourceAllocatableMemory:
		return StepResourceAllocatableMemory
	case SpreadScore:
		return StepSpread
	default:
		return StepAddOn
	}
}
