import { readScore, type StandardSchemaV1 } from '@perdure/core'
import type { Score, Scorer, ScorerSource, ToolUse, Trial } from './trial.ts'

export interface ScorerOptions {
  /** The name in reports. Default: the call that made the scorer. */
  readonly name?: string
}

export interface OwnScorerOptions {
  /** What the scorer reads of a trial. Default: unknown, so everything. */
  readonly reads?: readonly ScorerSource[]
}

/** A scorer of your own. A boolean is enough. */
export function scorer(
  name: string,
  score: (trial: Trial) => Score | boolean | Promise<Score | boolean>,
  { reads }: OwnScorerOptions = {},
): Scorer {
  return {
    name,
    ...(reads === undefined ? {} : { reads }),
    score: async (trial) => readScore(await score(trial), name),
  }
}

const LOG: OwnScorerOptions = { reads: ['log'] }
const TEXT: OwnScorerOptions = { reads: ['text'] }
const USAGE: OwnScorerOptions = { reads: ['usage'] }

export interface CalledToolOptions extends ScorerOptions {
  /** Members that the arguments must have, at any depth, or a test of the arguments. */
  readonly args?: object | ((args: unknown) => boolean)
  /** How often. Default: at least once. */
  readonly times?: number
}

/** The agent called the tool, whether or not the call was approved. */
export const calledTool = (
  tool: string,
  { args, times, name = `calledTool(${tool})` }: CalledToolOptions = {},
): Scorer =>
  scorer(
    name,
    ({ toolCalls }) => {
      const called = toolCalls.filter(({ toolName }) => toolName === tool)
      const meant = called.filter((call) => args === undefined || hasArgs(call, args))
      const pass = times === undefined ? meant.length > 0 : meant.length === times
      if (pass) return { pass }
      if (called.length > 0 && meant.length === 0)
        return { pass, reason: `${tool} got ${JSON.stringify(called[0]?.args)}` }
      return { pass, reason: `${tool} was called ${meant.length} times; called: ${namesIn(toolCalls)}` }
    },
    LOG,
  )

const hasArgs = ({ args }: ToolUse, wanted: NonNullable<CalledToolOptions['args']>): boolean =>
  typeof wanted === 'function' ? (wanted as (args: unknown) => boolean)(args) : includes(args, wanted)

/** Whether the value has the wanted members, at any depth. */
function includes(value: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return Object.is(value, wanted)
  if (typeof value !== 'object' || value === null || Array.isArray(value) !== Array.isArray(wanted)) return false
  if (Array.isArray(wanted) && (value as readonly unknown[]).length !== wanted.length) return false
  return Object.entries(wanted).every(([member, one]) => includes(Reflect.get(value, member), one))
}

export const notCalledTool = (tool: string, { name = `notCalledTool(${tool})` }: ScorerOptions = {}): Scorer =>
  scorer(
    name,
    ({ toolCalls }) => {
      const called = toolCalls.find(({ toolName }) => toolName === tool)
      return called === undefined
        ? { pass: true }
        : { pass: false, reason: `${tool} got ${JSON.stringify(called.args)}` }
    },
    LOG,
  )

/** The agent called these tools in this order; other calls may be in between. */
export const order = (...tools: readonly string[]): Scorer =>
  scorer(
    `order(${tools.join(', ')})`,
    ({ toolCalls }) => {
      let next = 0
      for (const { toolName } of toolCalls) if (toolName === tools[next]) next++
      return next === tools.length ? { pass: true } : { pass: false, reason: `called: ${namesIn(toolCalls)}` }
    },
    LOG,
  )

const namesIn = (calls: readonly ToolUse[]): string => calls.map(({ toolName }) => toolName).join(', ') || 'no tool'

export interface MatchesSchemaOptions extends ScorerOptions {
  /** `text` reads the last answer as JSON. Default: what the run returned. */
  readonly of?: 'result' | 'text'
}

/** The result fits a schema of valibot, zod or another library with Standard Schema. */
export const matchesSchema = (
  schema: StandardSchemaV1,
  { of = 'result', name = 'matchesSchema' }: MatchesSchemaOptions = {},
): Scorer =>
  scorer(
    name,
    async ({ result, text }) => {
      let value = result
      if (of === 'text') {
        try {
          value = JSON.parse(text)
        } catch {
          return { pass: false, reason: 'the answer is not JSON' }
        }
      }
      const { issues } = await schema['~standard'].validate(value)
      return issues === undefined ? { pass: true } : { pass: false, reason: issues[0]?.message ?? 'does not match' }
    },
    { reads: [of] },
  )

export interface UsageLimits extends ScorerOptions {
  readonly inputTokens?: number
  readonly outputTokens?: number
  /** Input and output tokens together. */
  readonly tokens?: number
}

/** The case used fewer tokens than each limit. */
export const usageBelow = ({ name = 'usageBelow', ...limits }: UsageLimits): Scorer =>
  scorer(
    name,
    ({ usage }) => {
      const used = { ...usage, tokens: usage.inputTokens + usage.outputTokens }
      const over = (['inputTokens', 'outputTokens', 'tokens'] as const).find(
        (of) => used[of] >= (limits[of] ?? Number.POSITIVE_INFINITY),
      )
      return over === undefined
        ? { pass: true }
        : { pass: false, reason: `${over}: ${used[over]}, limit ${limits[over]}` }
    },
    USAGE,
  )

/** The case cost less than this many US dollars. Models without a price cost nothing. */
export const costBelow = (usd: number, { name = `costBelow(${usd})` }: ScorerOptions = {}): Scorer =>
  scorer(
    name,
    ({ usage: { costUsd } }) => (costUsd < usd ? { pass: true } : { pass: false, reason: `$${costUsd.toFixed(6)}` }),
    USAGE,
  )

/** A person was asked about the tool, and every decision was an approval. */
export const approved = (tool: string, { name = `approved(${tool})` }: ScorerOptions = {}): Scorer =>
  scorer(
    name,
    ({ decisions }) => {
      const made = decisions.filter((one) => one.name === tool).map(({ decision }) => decision)
      const pass = made.length > 0 && made.every((decision) => decision === 'approved')
      return pass ? { pass } : { pass, reason: made.length === 0 ? 'nobody decided' : made.join(', ') }
    },
    LOG,
  )

export interface SimilarTextOptions extends ScorerOptions {
  /** The least similarity, from 0 to 1. Default 0.8. */
  readonly min?: number
}

/**
 * The last answer is close to a text by edit distance. Default: to `expected` of the case. The distance knows no meaning: an answer
 * that says the opposite in nearly the same words passes.
 */
export const similarText = (expected?: string, { min = 0.8, name = 'similarText' }: SimilarTextOptions = {}): Scorer =>
  scorer(
    name,
    ({ text, case: { expected: ofCase } }) => {
      const wanted = expected ?? ofCase
      if (typeof wanted !== 'string')
        return { pass: false, reason: 'no expected text: set it in similarText or in the case' }
      const value = similarity(text, wanted)
      return { pass: value >= min, value, reason: `similarity ${value.toFixed(2)}` }
    },
    { reads: expected === undefined ? ['text', 'expected'] : ['text'] },
  )

const MAX_COMPARED = 10_000

/** 1 minus the edit distance over the length of the longer text; of long texts only the first 10,000 characters count. */
function similarity(one: string, other: string): number {
  const [a, b] = [one.slice(0, MAX_COMPARED), other.slice(0, MAX_COMPARED)]
  const longer = Math.max(a.length, b.length)
  return longer === 0 ? 1 : 1 - editDistance(a, b) / longer
}

function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? 0
}

/** The last answer matches a regular expression. */
export const matchesText = (pattern: RegExp, { name = `matchesText(${pattern})` }: ScorerOptions = {}): Scorer =>
  scorer(
    name,
    ({ text }) => {
      // Unlike `test`, `search` does not continue behind the last match of a pattern with the flag g.
      const pass = text.search(pattern) !== -1
      return pass ? { pass } : { pass, reason: `the answer is ${JSON.stringify(text.slice(0, 120))}` }
    },
    TEXT,
  )
