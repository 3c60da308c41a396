import { scriptedModel } from '@perdure/ai-sdk/testing'
import { recordingOf } from '@perdure/core'
import { runAgent } from '@perdure/server-app/testing'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import {
  approved,
  calledTool,
  caseOfRuns,
  compareResults,
  costBelow,
  defineEval,
  type EvalCase,
  type EvalOptions,
  judge,
  junitReport,
  matchesSchema,
  matchesText,
  memoryJournal,
  notCalledTool,
  order,
  type ResultEntry,
  runEvals,
  type Scorer,
  scorer,
  similarText,
  simulatedUser,
  summarize,
  usageBelow,
} from './index.ts'
import { shop, shopWith } from './shop.fixture.ts'

const REFUND: EvalCase = {
  id: 'refund',
  turns: ['refund A-17'],
  decisions: { refund: true },
}
const EXPECTING: EvalCase = { ...REFUND, expected: 'You get your money back.' }

const evalOf = (options: Partial<EvalOptions> = {}) =>
  defineEval({ name: 'shop', agent: shop, cases: [REFUND], ...options })

const run = async (options: Partial<EvalOptions> = {}) => runEvals([evalOf(options)], { journal: memoryJournal() })

/** The scores of the case by scorer: whether it passed, or why not. */
async function scoresOf(scorers: readonly Scorer[], options: Partial<EvalOptions> = {}) {
  const { trials } = await run({ scorers, ...options })
  return trials[0]?.scores.map(({ pass, reason }) => (pass ? true : reason))
}

describe('a case whose approvals stay open', () => {
  it.each<readonly [decisions: EvalCase['decisions'], waiting: string]>([
    [undefined, '"refund" waits for a decision'],
    [{ refnd: true }, '"refund" waits for a decision; decisions has only "refnd"'],
  ])('says with decisions %o what waits', async (decisions, waiting) => {
    const cases = [{ ...REFUND, decisions }]
    const { trials } = await run({ cases, scorers: [approved('refund')] })
    expect(summarize(evalOf(), trials).cases).toMatchObject([
      { status: 'failed', reason: expect.stringContaining(waiting) },
    ])

    const asRun = { id: 'run', input: 'refund A-17', ...(decisions && { decisions }) }
    const { trials: ofRun } = await run({ cases: [asRun], scorers: [approved('refund')] })
    expect(ofRun[0]?.waiting).toBe(waiting)
  })

  it('can pass, if the case is about the question', async () => {
    const { decisions: _, ...undecided } = REFUND
    expect((await run({ cases: [undecided], scorers: [calledTool('refund')] })).trials).toMatchObject([{ pass: true }])
  })
})

describe('scorers', () => {
  it('pass for what the agent did', async () => {
    const scorers = [
      ...[
        calledTool('refund', { args: { order: 'A-17' }, times: 1 }),
        notCalledTool('delete'),
        order('find', 'refund'),
      ],
      ...[usageBelow({ tokens: 1_000 }), costBelow(1), approved('refund'), similarText(), matchesText(/money back/g)],
      matchesSchema(v.object({ text: v.string() })),
      scorer('own', ({ toolCalls }) => toolCalls.every(({ executed }) => executed)),
    ]
    expect(await scoresOf(scorers, { cases: [EXPECTING] })).toEqual(scorers.map(() => true))
  })

  it('say why they fail', async () => {
    const scorers = [
      ...[calledTool('refund', { args: { order: 'B' } }), calledTool('delete'), notCalledTool('find')],
      ...[
        order('refund', 'find'),
        usageBelow({ outputTokens: 1 }),
        costBelow(0),
        similarText('something else entirely'),
      ],
      ...[matchesText(/never/), matchesSchema(v.object({ price: v.number() }))],
    ]
    expect(await scoresOf(scorers)).toEqual([
      'refund got {"order":"A-17"}',
      'delete was called 0 times; called: find, refund',
      'find got {"order":"A-17"}',
      'called: find, refund',
      expect.stringMatching(/^outputTokens: \d+, limit 1$/),
      '$0.000000',
      expect.stringMatching(/^similarity 0\.\d\d$/),
      'the answer is "You get your money back."',
      expect.stringMatching(/price/),
    ])
  })

  it('see a denied call as called and not executed', async () => {
    const scorers = [
      calledTool('refund'),
      approved('refund'),
      scorer('ran', ({ toolCalls }) => toolCalls.at(-1)?.executed === true),
    ]
    const cases = [{ ...REFUND, decisions: { refund: { approved: false, reason: 'no' } } }]
    expect(await scoresOf(scorers, { cases })).toEqual([true, 'denied', undefined])
  })

  it('count an error of a scorer as a failure with its message', async () => {
    const throwing = scorer('throws', () => {
      throw new Error('broken')
    })
    expect(await scoresOf([throwing])).toEqual(['broken'])
  })
})

describe('cases', () => {
  it('are chats with several turns, or single runs with decisions', async () => {
    const cases = [
      { id: 'chat', turns: ['hello', 'refund A-17', { approve: 'refund' }] },
      { id: 'run', input: { text: 'refund A-17' }, decisions: { refund: true } },
    ]
    const { trials } = await run({ cases, scorers: [approved('refund')] })
    expect(trials.map(({ pass, text }) => [pass, text])).toEqual([
      [true, 'You get your money back.'],
      [true, 'You get your money back.'],
    ])
  })

  it('are played by a simulated user, a function or an agent', async () => {
    const said: string[] = []
    const user = simulatedUser(shopWith(({ text }) => (text.includes('agent:') ? 'DONE' : 'hello there')))
    const cases: EvalCase[] = [
      {
        id: 'function',
        user({ turn, text }) {
          said.push(text)
          return turn < 2 ? `turn ${turn}` : undefined
        },
      },
      { id: 'agent', user },
    ]
    const { trials } = await run({ cases })
    expect(said).toEqual(['', 'You said: turn 0', 'You said: turn 1'])
    expect(trials.find((trial) => trial.case === 'agent')?.text).toBe('You said: hello there')
  })

  it('come from recorded runs, with their decisions and answers', async () => {
    const asked = await runAgent(shop as never, { text: 'refund A-17' } as never)
    const done = await asked.decide('refund', { approved: true })
    const head = { id: done.runId, target: { kind: 'agent', id: 'shop' } as const, input: { text: 'refund A-17' } }
    const recording = recordingOf(
      { ...head, status: done.status, result: done.result, usage: done.usage, createdAt: '' },
      done.events,
    )
    const cases = [caseOfRuns('old', [recording]), caseOfRuns('session', [recording, recording])]
    expect(cases[0]).toMatchObject({ decisions: { refund: true }, expected: 'You get your money back.' })
    expect((await run({ cases, scorers: [similarText(), approved('refund')] })).trials.map(({ pass }) => pass)).toEqual(
      [true, true],
    )
  })

  it('are refused without an id, or with the same id twice', async () => {
    expect((await run({ cases: [REFUND, REFUND] })).invalid).toEqual([
      { eval: 'shop', problem: 'two cases of shop have the id refund' },
    ])
    expect((await run({ cases: [{ id: '' }] })).invalid).toMatchObject([
      { problem: 'cases of shop: the case is invalid: id must be a text, not ""' },
    ])
  })
})

describe('defineEval', () => {
  it.each([
    [{ name: '' }, 'name is missing'],
    [{ repeat: 0 }, 'repeat of shop must be a positive whole number'],
    [{ scorers: [costBelow(1), costBelow(1)] }, 'two scorers of shop are named costBelow(1)'],
    [{ thresholds: { passRate: 2 } }, 'the threshold passRate of shop must be between 0 and 1'],
    [{ thresholds: { scorers: { no: 1 } } }, 'shop sets a threshold for no, but has no such scorer'],
  ])('refuses %o', (options, message) => {
    expect(() => evalOf(options)).toThrow(message)
  })
})

describe('repeats and thresholds', () => {
  /** Passes in the first `passes` of each ten tries. */
  const flaky = (passes: number) => {
    let tries = 0
    return evalOf({ repeat: 10, scorers: [scorer('luck', () => tries++ % 10 < passes)] })
  }

  it('calls a case flaky whose tries differ, with the interval of its rate', async () => {
    const definition = flaky(8)
    const { trials } = await runEvals([definition], { journal: memoryJournal(), concurrency: 1 })
    const summary = summarize(definition, trials)
    expect(summary.cases[0]).toMatchObject({ id: 'refund', status: 'flaky', passed: 8, trials: 10, rate: 0.8 })
    expect(summary.cases[0]?.interval.low).toBeCloseTo(0.490162, 5)
    expect(summary).toMatchObject({ ok: false, problems: ['80.0 % passed, the threshold is 100.0 %'] })
  })

  it('meets a threshold by its rate, and by the lower bound of its interval if asked', async () => {
    const definition = flaky(8)
    const { trials } = await runEvals([definition], { journal: memoryJournal(), concurrency: 1 })
    const okWith = (thresholds: object) => summarize({ name: 'shop', thresholds }, trials).problems
    expect(okWith({ passRate: 0.8 })).toEqual([])
    expect(okWith({ passRate: 0.8, lowerBound: 0.6 })).toEqual([
      'the interval begins at 49.0 %, the threshold is 60.0 %',
    ])
    expect(okWith({ passRate: 0, scorers: { luck: 0.9 } })).toEqual(['luck: 80.0 % passed, the threshold is 90.0 %'])
  })
})

describe('judge', () => {
  const controls = [
    { answer: 'Your refund is on its way.', pass: true },
    { answer: 'I cannot help.', pass: false },
  ]
  const judgeOf = (reply: (subject: string) => string, asked: string[] = []) =>
    judge({
      model: scriptedModel(({ text }) => reply(text), { onCall: ({ text }) => asked.push(text) }),
      rubric: 'The answer must promise a refund.',
      controls,
    })
  const verdict = (pass: boolean) => JSON.stringify({ reason: 'so it is', pass })
  const fair = (subject: string) => verdict(/refund is|money back/.test(JSON.parse(subject).answer))

  it('passes what its model says is good', async () => {
    expect(await scoresOf([judgeOf(fair)])).toEqual([true])
  })

  it('is refused when it always says yes, or always says no', async () => {
    const yes = await run({ scorers: [judgeOf(() => verdict(true))] })
    expect(yes).toMatchObject({ trials: [], planned: 0 })
    expect(yes.invalid[0]?.problem).toMatch('the judge judge says yes to every control case, such as "I cannot help."')
    const no = await run({ scorers: [judgeOf(() => verdict(false))] })
    expect(no.invalid[0]?.problem).toMatch('says no to every control case')
  })

  it('is not asked again for answers that are recorded', async () => {
    const asked: string[] = []
    const entries: ResultEntry[] = []
    const append = async (entry: ResultEntry) => void entries.push(entry)
    const scorers = [judgeOf(fair, asked)]
    await runEvals([evalOf({ scorers })], { journal: { earlier: [], append } })
    expect(asked).toHaveLength(3)
    const answers = entries.filter(({ kind }) => kind === 'answer')
    const again = await runEvals([evalOf({ scorers })], { journal: memoryJournal(answers) })
    expect(asked).toHaveLength(3)
    expect(again.trials[0]?.scores).toMatchObject([{ pass: true, reason: 'so it is' }])
  })

  it('needs control cases of both kinds, and a model object', () => {
    const model = scriptedModel([])
    expect(() => judge({ model, rubric: 'r', controls: [{ answer: 'a', pass: true }] })).toThrow('one that fails')
    expect(() => judge({ model: 'gpt' as never, rubric: 'r', controls })).toThrow('must be a language model object')
  })

  it('fails the trial when its model gives no verdict', async () => {
    const unclear = judgeOf((subject) => (subject.includes('money back') ? 'maybe' : fair(subject)))
    expect(await scoresOf([unclear])).toEqual(['the judge gave no verdict: "maybe"'])
  })
})

describe('runEvals', () => {
  const cases = Array.from({ length: 6 }, (_, index) => ({ id: `c${index}`, input: { text: `hello ${index}` } }))

  it('makes only the trials that the journal does not have, and makes those of an edited case again', async () => {
    const entries: ResultEntry[] = []
    const append = async (entry: ResultEntry) => void entries.push(entry)
    const first = await runEvals([evalOf({ cases })], {
      journal: { earlier: [], append },
      budget: { runs: 4 },
      concurrency: 1,
    })
    expect(first).toMatchObject({ stoppedBy: 'runs', planned: 6, reused: 0 })
    const edited = cases.map((one) => (one.id === 'c1' ? { ...one, input: { text: 'other' } } : one))
    const second = await runEvals([evalOf({ cases: edited })], { journal: { earlier: [...entries], append } })
    expect(second).toMatchObject({ planned: 6, reused: 3 })
    expect(entries.filter(({ kind }) => kind === 'trial')).toHaveLength(7)
    expect(second.trials.map((trial) => trial.case).toSorted()).toEqual(cases.map(({ id }) => id))
  })

  it('stops at its budget of dollars and of time, and when it is aborted', async () => {
    const stopped = async (budget: object) =>
      (await runEvals([evalOf({ cases })], { journal: memoryJournal(), budget })).stoppedBy
    expect(await stopped({ costUsd: 0 })).toBe('costUsd')
    expect(await stopped({ durationMs: 0 })).toBe('durationMs')
    const signal = AbortSignal.abort()
    expect((await runEvals([evalOf({ cases })], { journal: memoryJournal(), signal })).stoppedBy).toBe('signal')
  })

  it('counts an agent that throws as a failed trial', async () => {
    const broken = shopWith(() => {
      throw new Error('no answer')
    })
    const { trials } = await run({
      agent: broken,
      cases: [
        { id: 'a', input: { text: 'x' } },
        { id: 'b', turns: ['x'] },
      ],
    })
    expect(trials.map(({ pass, error }) => [pass, error !== undefined])).toEqual([
      [false, true],
      [false, true],
    ])
  })
})

describe('results', () => {
  const passing = (count: number) => (one: { readonly case: string }) => Number(one.case.slice(1)) < count
  const cases = Array.from({ length: 20 }, (_, index) => ({ id: `c${index}`, input: { text: 'x' } }))
  const resultsOf = async (count: number) =>
    (await run({ cases, scorers: [scorer('luck', (trial) => passing(count)({ case: trial.case.id }))] })).trials

  it('compare as better, worse and the same', async () => {
    const [all, most, few] = [await resultsOf(20), await resultsOf(18), await resultsOf(6)]
    expect(compareResults(all, few)).toMatchObject([
      { name: 'shop', verdict: 'worse', scorers: [{ name: 'luck', verdict: 'worse' }] },
    ])
    expect(compareResults(few, all)[0]?.verdict).toBe('better')
    expect(compareResults(all, most)[0]).toMatchObject({ verdict: 'same', cases: [{ name: 'c18' }, { name: 'c19' }] })
    expect(compareResults([], all)).toEqual([])
  })

  it('are a report for JUnit, with escaped texts', async () => {
    const definition = evalOf({ cases: [{ id: 'a<b', input: { text: '"&"' } }], scorers: [matchesText(/<no>/)] })
    const { trials } = await runEvals([definition], { journal: memoryJournal() })
    const report = junitReport([summarize(definition, trials)], trials)
    expect(report).toContain('<testsuite name="shop" tests="1" failures="1">')
    expect(report).toContain('name="a&lt;b"')
    expect(report).toContain('matchesText(/&lt;no&gt;/): the answer is &quot;You said: \\&quot;&amp;\\&quot;&quot;')
  })
})
