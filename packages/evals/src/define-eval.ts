import process from 'node:process'
import type { AgentRegistration } from '@perdure/core'
import type { OpenChatOptions, RunAgentOptions } from '@perdure/server-app/testing'
import { checkCase } from './check-case.ts'
import type { EvalCase, Scorer } from './trial.ts'

export interface CaseContext {
  /** The folder of the file that exports the eval. */
  readonly folder: string
}

/** Reads cases, like those that `casesFromFiles` and `casesFromRuns` return. */
export type CaseLoader = (context: CaseContext) => Promise<readonly EvalCase[]> | readonly EvalCase[]

/** A case, a list of cases, or a function that reads them. */
export type Cases = EvalCase | readonly EvalCase[] | CaseLoader

export interface Thresholds {
  /** The least share of trials that pass, from 0 to 1. Default 1. */
  readonly passRate?: number
  /** The least lower bound of the confidence interval of that share. Default: not checked. */
  readonly lowerBound?: number
  /** The least share of trials that pass a scorer, by its name. */
  readonly scorers?: Readonly<Record<string, number>>
}

export interface EvalOptions {
  readonly name: string
  /** The agent, or a function that makes one for each trial, for example with a recorded model. */
  readonly agent: AgentRegistration | ((evalCase: EvalCase) => AgentRegistration | Promise<AgentRegistration>)
  /** Cases and functions that read cases, in any mixture. */
  readonly cases: CaseLoader | readonly Cases[]
  readonly scorers?: readonly Scorer[]
  /** How often each case is tried. Default 1. A case is called flaky if its tries differ. */
  readonly repeat?: number
  readonly thresholds?: Thresholds
  /** Options of `runAgent` and `openChat`, such as `agents`, `skills` and `config`. */
  readonly options?: Omit<RunAgentOptions, 'request'> & Pick<OpenChatOptions, 'sdk'>
}

export interface EvalDefinition extends Required<Omit<EvalOptions, 'options' | 'cases' | 'thresholds'>> {
  readonly '~eval': true
  readonly options: NonNullable<EvalOptions['options']>
  readonly thresholds: Thresholds
  /** Names the code that is evaluated, as far as it is known. Set by `perdure eval`. */
  readonly code?: string
  /** Where the files of cases are. Set by `perdure eval`. */
  readonly context?: CaseContext
  /**
   * @param context where files are looked for. Default: the working folder
   * @throws Error for a case of a wrong form, for two cases with the same id, and for an expectation that no scorer reads
   */
  readCases(context?: CaseContext): Promise<readonly EvalCase[]>
}

/**
 * Declares an evaluation. `perdure eval` finds the evals that files named `*.eval.ts` export.
 *
 * @throws TypeError for options that cannot work
 */
export function defineEval(options: EvalOptions): EvalDefinition {
  const { name, agent, cases, scorers = [], repeat = 1, thresholds = {} } = options
  const problem = problemOf(options) ?? scorerProblem(options) ?? thresholdProblem(options)
  if (problem !== undefined) throw new TypeError(`defineEval: ${problem}`)
  return {
    '~eval': true,
    ...{ name, agent, scorers, repeat, thresholds, options: options.options ?? {} },
    readCases: (context = { folder: process.cwd() }) => readAll({ name, cases, scorers }, context),
  }
}

function problemOf({ name, agent, cases, repeat = 1 }: EvalOptions): string | undefined {
  if (typeof name !== 'string' || name === '') return 'name is missing'
  if (agent === undefined || agent === null) return `the eval ${name} has no agent`
  if (!Number.isInteger(repeat) || repeat < 1) return `repeat of ${name} must be a positive whole number, not ${repeat}`
  const isRead = Array.isArray(cases) || typeof cases === 'function'
  return isRead ? undefined : `cases of ${name} must be a list or a function`
}

function scorerProblem({ name, scorers = [], thresholds = {} }: EvalOptions): string | undefined {
  const names = scorers.map((scorer) => scorer.name)
  const twice = firstTwice(names)
  if (twice !== undefined) return `two scorers of ${name} are named ${twice}; give one of them another name`
  const unknown = Object.keys(thresholds.scorers ?? {}).find((of) => !names.includes(of))
  return unknown === undefined ? undefined : `${name} sets a threshold for ${unknown}, but has no such scorer`
}

function thresholdProblem({ name, thresholds: { scorers, ...own } = {} }: EvalOptions): string | undefined {
  const wrong = Object.entries({ ...own, ...scorers }).find(([, rate]) => !(rate >= 0 && rate <= 1))
  return wrong === undefined ? undefined : `the threshold ${wrong[0]} of ${name} must be between 0 and 1`
}

export const isEval = (value: unknown): value is EvalDefinition =>
  typeof value === 'object' && value !== null && '~eval' in value

async function readAll(
  { name, cases, scorers }: Pick<EvalDefinition, 'name' | 'scorers'> & Pick<EvalOptions, 'cases'>,
  context: CaseContext,
): Promise<readonly EvalCase[]> {
  const lists: readonly Cases[] = typeof cases === 'function' ? [cases] : cases
  const read = await Promise.all(
    lists.map(async (one): Promise<readonly EvalCase[]> => {
      const list = typeof one === 'function' ? await one(context) : one
      return isList(list) ? list : [list]
    }),
  )
  const all = read.flat().map((one) => checkCase(one, `cases of ${name}`))
  const twice = firstTwice(all.map(({ id }) => id))
  if (twice !== undefined) throw new Error(`two cases of ${name} have the id ${twice}`)
  const unread = all.find((one) => !isExpectationRead(one, scorers))
  if (unread !== undefined)
    throw new Error(
      `the case ${unread.id} of ${name} has expected, but no scorer reads it: add similarText() to the scorers, or remove expected and check the answer with matchesText(/…/)`,
    )
  return all
}

/** The text of a recorded run is there without anybody having written it, so it may stay unread. */
function isExpectationRead({ expected, recordings, scorers: own = [] }: EvalCase, scorers: readonly Scorer[]): boolean {
  if (expected === undefined || recordings !== undefined) return true
  return [...scorers, ...own].some(({ reads }) => reads === undefined || reads.includes('expected'))
}

const isList = (value: EvalCase | readonly EvalCase[]): value is readonly EvalCase[] => Array.isArray(value)

const firstTwice = (names: readonly string[]): string | undefined =>
  names.find((name, index) => names.indexOf(name) !== index)
