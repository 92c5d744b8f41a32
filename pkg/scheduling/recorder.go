package scheduling

// Step is a part of an evaluation that is timed on its own.
type Step uint8

// The steps: the filters, the evaluation of CEL, which is a part of StepPredicate, and the prioritizers.
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

// Steps returns all steps.
func Steps() []Step {
	return []Step{
		StepPredicate, StepTaintToleration, StepCEL, StepBalance, StepSteady, StepResourceAllocatableCPU, StepResourceAllocatableMemory,
		StepSpread, StepAddOn,
	}
}

// String returns the name of the step, which is the name of the plugin upstream if it has one.
func (s Step) String() string {
	return [...]string{
		"Predicate", "TaintToleration", "CEL", Balance, Steady, ResourceAllocatableCPU, ResourceAllocatableMemory, SpreadScore, "AddOn",
	}[s]
}

// Filter reports whether the step is a filter.
func (s Step) Filter() bool { return s < StepCEL }

// Prioritizer reports whether the step is a prioritizer.
func (s Step) Prioritizer() bool { return s > StepCEL }

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

// step returns the step of the prioritizer. All AddOn scores share one step, because their names are arbitrary.
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
