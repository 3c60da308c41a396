import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { RECORDING_FORMAT, type RunRecording } from '@perdure/core'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  approved,
  calledTool,
  caseOfRuns,
  casesFromFiles,
  defineEval,
  type EvalCase,
  type EvalOptions,
  matchesText,
  memoryJournal,
  runEvals,
  scorer,
  similarText,
  summarize,
  uncomparedIn,
  withoutContent,
} from './index.ts'
import { shop, shopWith } from './shop.fixture.ts'

const evalOf = (cases: EvalOptions['cases'], options: Partial<EvalOptions> = {}) =>
  defineEval({ name: 'shop', agent: shop, cases, ...options })

const recording: RunRecording = {
  format: RECORDING_FORMAT,
  run: {
    ...{ id: 'run_1', target: { kind: 'agent', id: 'shop' }, input: { text: 'late' }, status: 'completed' },
    ...{ result: { text: 'You get your money back.' }, createdAt: '' },
    usage: { inputTokens: 1, outputTokens: 1, costUsd: 0 },
  },
  calls: [],
}

function folderWith(files: Readonly<Record<string, unknown>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-cases-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, value] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(value))
  return folder
}

describe('casesFromFiles', () => {
  it('takes paths relative to a folder, absolute paths and file URLs', async () => {
    const folder = folderWith({ 'a.json': { id: 'a', input: 1 }, 'b.json': [recording, { id: 'c', turns: ['hi'] }] })
    const url = pathToFileURL(join(folder, 'b.json'))

    const cases = await casesFromFiles('a.json', url, join(folder, 'a.json'))({ folder })

    expect(cases.map(({ id }) => id)).toEqual(['a', 'run_1', 'c', 'a'])
  })

  it.each<readonly [value: unknown, problem: string]>([
    [{ id: 'a', expectd: 'x' }, 'the case "a" has an unknown member expectd; a case has id, input, turns'],
    [{ input: 1 }, 'the case has no id'],
    ['late', 'the case must be an object, not "late"'],
    [{ id: 'a', turns: 'a 60 days ago' }, 'the case "a" is invalid: turns must be a list of turns'],
    [{ id: 'a', turns: [] }, 'the case "a" is invalid: turns must be a list of turns'],
    [{ id: 'a', turns: [{ txt: 'hi' }] }, 'the case "a" is invalid: turns must be a list of turns'],
    [{ id: 'a', turns: [{ send: 'hi', fils: [] }] }, 'the case "a" is invalid: turns must be a list of turns'],
    [{ id: 'a', turns: [{ send: 'hi', approve: 'refund' }] }, 'the case "a" is invalid: turns must be a list of turns'],
    [{ id: 'a', decisions: { refund: 'yes' } }, 'the case "a" is invalid: decisions must be an object of true, false'],
    [{ id: 'a', decisions: { refund: { aproved: true } } }, 'the case "a" is invalid: decisions must be an object'],
    [{ id: 'a', decisions: { refund: [] } }, 'the case "a" is invalid: decisions must be an object'],
    [{ id: 'a', maxTurns: 0 }, 'the case "a" is invalid: maxTurns must be a positive whole number, not 0'],
    [
      { id: 'a', input: 1, turns: ['hi'] },
      'the case "a" has input and turns: write turns for a chat, or input for a run',
    ],
  ])('refuses %j with the file, the case and the member', async (value, problem) => {
    const folder = folderWith({ 'late.json': value })

    const reading = casesFromFiles('late.json')({ folder })

    await expect(reading).rejects.toThrow(`${join(folder, 'late.json')}: ${problem}`)
  })

  it('accepts every form of turns and decisions', async () => {
    const turns = ['hi', { send: 'hi', files: [] }, { approve: 'a' }, { deny: 'a', reason: 'no' }, { edit: 'x' }]
    const value = {
      ...{ id: 'a', turns: [...turns, { regenerate: true }, { advance: '1h' }] },
      decisions: { a: true, b: { approved: false, reason: 'no' }, c: [true, { approved: false }] },
    }
    const folder = folderWith({ 'a.json': value })

    expect(await casesFromFiles('a.json')({ folder })).toEqual([value])
  })

  it('refuses a recording that was exported without its content', async () => {
    const folder = folderWith({ 'late.json': withoutContent(recording) })

    await expect(casesFromFiles('late.json')({ folder })).rejects.toThrow('exported without its content; add --others')
  })
})

describe('the cases of defineEval', () => {
  it('are a mixture of cases, lists of cases and functions', async () => {
    const mixed = evalOf([{ id: 'a', input: 1 }, [{ id: 'b', input: 2 }], () => [{ id: 'c', input: 3 }]])
    const read = evalOf(async () => [{ id: 'd', input: 4 }])

    expect((await mixed.readCases()).map(({ id }) => id)).toEqual(['a', 'b', 'c'])
    expect((await read.readCases()).map(({ id }) => id)).toEqual(['d'])
  })

  it('are checked when they are inline, too', async () => {
    const wrong = { id: 'a', inputs: 1 } as unknown as EvalCase

    await expect(evalOf([wrong]).readCases()).rejects.toThrow(
      'cases of shop: the case "a" has an unknown member inputs',
    )
  })

  const expecting = { id: 'a', turns: ['hello'], expected: 'Hello' }

  it.each([[[]], [[matchesText(/hello/)]], [[similarText('Hello')]], [[calledTool('refund')]]])(
    'make the eval invalid if they expect something that none of the scorers %j reads',
    async (scorers) => {
      const { invalid, trials } = await runEvals([evalOf([expecting], { scorers })], { journal: memoryJournal() })

      expect(trials).toEqual([])
      expect(invalid).toEqual([
        {
          eval: 'shop',
          problem: expect.stringMatching(
            /^the case a of shop has expected, but no scorer reads it: add similarText\(\) .* matchesText/,
          ),
        },
      ])
    },
  )

  it.each([
    ['similarText()', [similarText()], expecting],
    ['a scorer of the case', [], { ...expecting, scorers: [similarText()] }],
    ['a scorer of your own', [scorer('own', () => true)], expecting],
    ['no scorer, for the text of a recording', [], caseOfRuns('a', [recording])],
  ])('are valid with %s', async (_, scorers, one) => {
    expect(await evalOf([one], { scorers }).readCases()).toHaveLength(1)
  })
})

describe('decisions', () => {
  /** Asks for two refunds, one after another. */
  const twice = shopWith(({ toolResults }) =>
    toolResults.length < 2 ? { toolName: 'refund', input: { order: `A-${toolResults.length}` } } : 'done',
  )
  const made = async (over: Partial<EvalCase>) => {
    const one = { id: 'a', input: { text: 'refund both' }, ...over } as EvalCase
    const decided = scorer('decided', ({ decisions }) => ({
      pass: true,
      reason: decisions.map(({ decision }) => decision).join(),
    }))
    const { trials } = await runEvals([evalOf([one], { agent: twice, scorers: [decided] })], {
      journal: memoryJournal(),
    })
    return [trials[0]?.scores[0]?.reason, trials[0]?.waiting]
  }

  it.each([
    ['a run', {}],
    ['a chat', { input: undefined, turns: ['refund both'] }],
  ])('are made in their order in %s, and the others stay open', async (_, over) => {
    expect(await made({ ...over, decisions: { refund: [true, false] } })).toEqual(['approved,denied', undefined])
    expect(await made({ ...over, decisions: { refund: false } })).toEqual(['denied,denied', undefined])
    expect(await made({ ...over, decisions: { refund: [true] } })).toEqual([
      'approved',
      '"refund" waits for a decision',
    ])
  })

  it('of a recording are in the order of the calls of the tools, and one if they are all the same', () => {
    const call = (toolCallId: string) => ({ toolCallId, toolName: 'two', args: {} })
    const decide = (toolCallId: string, decision: 'approved' | 'denied') =>
      ({ kind: 'decision', seq: 2, name: 'two', toolCallId, decision }) as const
    const answer = { kind: 'model', seq: 1, answer: [call('c1'), call('c2')], finishReason: 'tool-calls' } as const
    const decisionsOf = (...calls: RunRecording['calls']) => caseOfRuns('a', [{ ...recording, calls }]).decisions

    expect(decisionsOf(answer, decide('c2', 'denied'), decide('c1', 'approved'))).toEqual({ two: [true, false] })
    expect(decisionsOf(answer, decide('c2', 'denied'), decide('c1', 'denied'))).toEqual({ two: false })
  })
})

describe('results', () => {
  it('of other code do not count, and are counted as outdated', async () => {
    const of = (code: string) => ({ ...evalOf([{ id: 'a', turns: ['hello'] }], { repeat: 2 }), code })
    const first = await runEvals([of('old')], { journal: memoryJournal(), budget: { runs: 1 }, concurrency: 1 })

    const same = await runEvals([of('old')], { journal: memoryJournal(first.trials) })
    const other = await runEvals([of('new')], { journal: memoryJournal(first.trials) })

    expect(same).toMatchObject({ reused: 1, outdated: 0 })
    expect(other).toMatchObject({ reused: 0, outdated: 1 })
    expect(other.trials.map(({ code }) => code)).toEqual(['new', 'new'])
  })

  it.each([
    [() => Promise.reject(new Error('no such member')), 'no such member'],
    [() => ({ pass: 'yes' }), 'the scorer own returned {"pass":"yes"}; return true, false or { pass: boolean'],
    [() => undefined, 'the scorer own returned undefined'],
  ])('name a scorer that fails itself: %s', async (score, reason) => {
    const scorers = [scorer('own', score as never), approved('refund')]
    const definition = evalOf([{ id: 'a', turns: ['hello'] }], { scorers, repeat: 2 })

    const { trials } = await runEvals([definition], { journal: memoryJournal() })

    expect(trials[0]?.scores).toMatchObject([
      { name: 'own', pass: false, isError: true },
      { name: 'approved(refund)', pass: false },
    ])
    expect(summarize(definition, trials).scorerErrors).toEqual([
      expect.stringContaining(`the scorer own failed in 2 of 2 trials: ${reason}`),
    ])
  })

  it('name what a comparison leaves out', async () => {
    const trialsOf = async (name: string, ...cases: readonly EvalCase[]) =>
      (await runEvals([evalOf(cases, { name })], { journal: memoryJournal() })).trials
    const one = { id: 'one', input: { text: 'hi' } }
    const before = [
      ...(await trialsOf('shop', one, { id: 'gone', input: { text: 'x' } }, { id: 'same', input: { text: 'y' } })),
      ...(await trialsOf('old name', one)),
    ]
    const after = [
      ...(await trialsOf('shop', { id: 'one', input: { text: 'edited' } }, { id: 'same', input: { text: 'y' } })),
      ...(await trialsOf('new name', one)),
    ]

    expect(uncomparedIn(before, after, true)).toEqual([
      'new name is not compared: the earlier results do not have this eval',
      'old name is not compared: only the earlier results have this eval',
      'shop: 1 removed case is not compared: gone',
      'shop: 1 edited case is not compared: one',
    ])
    expect(uncomparedIn(before, after, false)).not.toContainEqual(expect.stringContaining('old name'))
    expect(uncomparedIn(before, before, true)).toEqual([])
  })
})
