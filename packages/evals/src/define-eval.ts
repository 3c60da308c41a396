import type { AgentRegistration } from '@perdure/core'
import type { OpenChatOptions, RunAgentOptions } from '@perdure/server-app/testing'
import type { EvalCase, Scorer } from './trial.ts'

/** Cases, or a function that reads them. */
export type Cases = readonly EvalCase[] | (() => Promise<readonly EvalCase[]> | readonly EvalCase[])

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
  /** One list of cases, or several. */
  readonly cases: Cases | readonly Cases[]
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
  /** @throws Error if two cases have the same id, or a case has none */
  readCases(): Promise<readonly EvalCase[]>
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
    readCases: () => readAll(name, cases),
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

async function readAll(name: string, cases: EvalOptions['cases']): Promise<readonly EvalCase[]> {
  const lists: readonly (EvalCase | Cases)[] = typeof cases === 'function' ? [cases] : cases
  const read = await Promise.all(
    lists.map(async (one): Promise<readonly EvalCase[]> => {
      const list = typeof one === 'function' ? await one() : one
      return isList(list) ? list : [list]
    }),
  )
  const all = read.flat()
  if (all.some(({ id }) => typeof id !== 'string' || id === '')) throw new Error(`a case of ${name} has no id`)
  const twice = firstTwice(all.map(({ id }) => id))
  if (twice !== undefined) throw new Error(`two cases of ${name} have the id ${twice}`)
  return all
}

const isList = (value: EvalCase | readonly EvalCase[]): value is readonly EvalCase[] => Array.isArray(value)

const firstTwice = (names: readonly string[]): string | undefined =>
  names.find((name, index) => names.indexOf(name) !== index)
