import { describe, expect, it } from 'vitest'
import type { RunSummary } from '../client/resources.ts'
import { judgementOf, scorerRates } from './judgement.ts'

const judging = (id: string, result: unknown): RunSummary =>
  ({ id, status: 'completed', createdAt: '2026-03-02T09:15:00.000Z', input: { runId: 'run_1' }, result }) as RunSummary
const scores = (pass: boolean) => ({ runId: 'run_1', scores: [{ scorer: 'polite', pass, reason: 'why' }] })

describe('judgementOf', () => {
  it('reads the judged run and the scores', () => {
    expect(judgementOf(judging('run_2', scores(false)))).toMatchObject({
      ...{ id: 'run_2', runId: 'run_1', scores: [{ scorer: 'polite', pass: false, reason: 'why', isError: false }] },
    })
  })

  it.each([undefined, null, 'text', { scores: 'no' }, { scores: [null, { scorer: 1, pass: true }] }])(
    'shows no score for the result %j',
    (result) => {
      expect(judgementOf(judging('run_2', result)).scores).toEqual([])
    },
  )
})

it('counts the scores of each scorer, without those of a scorer that failed itself', () => {
  const judgements = [true, true, false].map((pass, at) => judgementOf(judging(`run_${at}`, scores(pass))))
  const broken = { runId: 'run_1', scores: [{ scorer: 'polite', pass: false, isError: true }] }

  expect(scorerRates([...judgements, judgementOf(judging('run_3', broken))], ['polite', 'new'])).toEqual([
    { scorer: 'polite', passed: 2, count: 3, errors: 1 },
    { scorer: 'new', passed: 0, count: 0, errors: 0 },
  ])
})
