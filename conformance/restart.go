// SPDX-License-Identifier: Apache-2.0

package conformance

import "fmt"

// restart kills and starts a producer that has settled, which then writes nothing.
func (p *production) restart() error {
	restarter, can := p.driver.(Restarter)
	if !can {
		p.skip("the driver has no Kill and Start (Restarter)", RuleRestart)
		return nil
	}
	_, mark := p.recorder.decision()
	if err := p.killAndStart(restarter); err != nil {
		return err
	}
	if err := p.recorder.quiet(p.ctx, p.options.Quiet, p.options.Timeout); err != nil {
		return err
	}
	if written := p.recorder.since(mark); len(written) > 0 {
		p.addf(RuleRestart, "a restart of the settled producer wrote %s", named(written))
	}
	return nil
}

func (p *production) killAndStart(restarter Restarter) error {
	if err := restarter.Kill(p.ctx); err != nil {
		return fmt.Errorf("kill the producer: %w", err)
	}
	if err := restarter.Start(p.ctx); err != nil {
		return fmt.Errorf("start the producer: %w", err)
	}
	return nil
}

// kill kills a producer in the middle of a change, as soon as some writes of it are seen. Clusters that leave for a moment without a kill are
// found by their own rule, and are not counted twice.
func (p *production) kill() error {
	restarter, can := p.driver.(Restarter)
	if !can {
		return nil
	}
	for i, after := range kills {
		from := wishes[2+i%2] // Over 200, and fewer over all slices, in turn.
		wish := p.fleet[from[0]:from[1]]
		staying := common(p.wish, wish)
		p.wish = wish
		_, mark := p.recorder.decision()
		if err := p.driver.Decide(p.ctx, p.placement, wish); err != nil {
			return fmt.Errorf("ask for %d profiles: %w", len(wish), err)
		}
		begun := func() bool {
			decision, _ := p.recorder.decision()
			return len(p.recorder.since(mark)) >= after || p.difference(decision) == ""
		}
		if _, err := p.recorder.await(p.ctx, p.options.Timeout, begun); err != nil {
			return err
		}
		if err := p.killAndStart(restarter); err != nil {
			return err
		}

		follows, err := p.follows()
		if err != nil {
			return err
		}
		if decision, _ := p.recorder.decision(); !follows {
			p.addf(RuleRestart, "killed after %d writes, asked for %d profiles: %s", after, len(wish), p.difference(decision))
			return nil
		}
		if err := p.recorder.quiet(p.ctx, p.options.Quiet, p.options.Timeout); err != nil {
			return err
		}
		if !p.failed(RuleStays) {
			p.addLost(RuleRestart, mark, staying)
		}
	}
	return nil
}
