import {
  definedMembers,
  EVERY_ROW,
  NO_USAGE,
  type RunBudget,
  type RunRecord,
  type RunStore,
  type RunUsage,
  sumUsage,
} from '@perdure/ports'
import { type RetryDeps, retryTransient } from '../../concurrency/retry-transient.ts'

/** The usage of a run and its descendants. */
export interface UsageAccount {
  readonly runId: string
  readonly limits: RunBudget
  /** The limits of tokens, costs and tool calls, with what was approved beyond them. */
  raised(): RunBudget
  /** Raises limits that an approval allows; never lowers them. */
  raise(limits: RunBudget): void
  /** The recorded usage, and usage that is about to be recorded. */
  used(): RunUsage
  /** The usage in the record of the run. */
  recorded(): RunUsage
  /** Counts usage before it is recorded. */
  reserve(usage: RunUsage): void
  /** Call it when reserved usage was recorded. */
  confirm(usage: RunUsage): void
  /** Call it when reserved usage was not recorded, so that it can be used again. */
  cancel(usage: RunUsage): void
  /**
   * Whether other processes may record usage in the same record. `refresh` then reads what they have recorded; while usage of this
   * process is being recorded, it may miss as much.
   */
  readonly isShared: boolean
  refresh(): Promise<void>
  /** The error message once this run or a descendant has found the budget used up. This ends all of them. */
  exhausted(): string | undefined
  exhaust(message: string): void
}

export interface Membership {
  /** The accounts of the run's ancestors, the top-level run first, and of the run itself, last. */
  readonly accounts: readonly UsageAccount[]
  /** Call it when the execution is over. Idempotent. */
  readonly release: () => void
}

/**
 * The accounts of the runs that execute in this process, and of their ancestors. The record of a run holds its recorded
 * usage; its account adds the usage that is about to be recorded, so that parallel runs never exceed a limit together.
 * Another process that executes runs of the same tree has accounts of its own; `refresh` reads what it has recorded.
 */
export interface UsageAccounts {
  /**
   * Opens the accounts of a run. Call it before its code executes. Reads the records of the run and its ancestors,
   * unless their accounts are open; a new run without a parent needs no read.
   */
  open(run: RunRecord, isNew: boolean): Membership | Promise<Membership>
}

export interface UsageAccountsDeps extends RetryDeps {
  readonly runs: RunStore
  /** Whether other processes execute runs; false when missing. */
  readonly isStorageShared?: boolean | undefined
}

interface Chain {
  readonly accounts: readonly UsageAccount[]
  readonly parent: Entry | undefined
}

interface Entry {
  readonly id: string
  readonly chain: Chain | Promise<Chain>
  /** Executions of the run, and open accounts of its children. */
  holders: number
}

/**
 * An open account keeps the accounts of its ancestors open. Only executions that hold an account record usage in it, so
 * the record cannot change between the read that opens an account and its first use.
 */
export function createUsageAccounts(deps: UsageAccountsDeps): UsageAccounts {
  const entries = new Map<string, Entry>()

  const find = (id: string) => retryTransient(deps, () => deps.runs.find(id, EVERY_ROW))

  const createAccount = (run: RunRecord) =>
    createUsageAccount(run, deps.isStorageShared === true ? async () => (await find(run.id))?.usage : undefined)

  const add = (id: string, chain: Entry['chain']): Entry => {
    const entry = { id, chain, holders: 0 }
    entries.set(id, entry)
    if (chain instanceof Promise) chain.catch(() => evict(entry))
    return entry
  }

  const evict = (entry: Entry) => {
    if (entries.get(entry.id) === entry) entries.delete(entry.id)
  }

  const hold = (id: string, read = () => find(id)): Entry => {
    const entry = entries.get(id) ?? add(id, openChain(read))
    entry.holders++
    return entry
  }

  const openChain = async (read: () => Promise<RunRecord | undefined>): Promise<Chain> => {
    const run = await read()
    if (run === undefined) return { accounts: [], parent: undefined }
    const parent = run.parentRunId === undefined ? undefined : hold(run.parentRunId)
    const above = (await parent?.chain)?.accounts ?? []
    return { accounts: [...above, createAccount(run)], parent }
  }

  const release = (entry: Entry): void => {
    entry.holders--
    if (entry.holders > 0) return
    evict(entry)
    const releaseParent = ({ parent }: Chain) => parent !== undefined && release(parent)
    if (entry.chain instanceof Promise) entry.chain.then(releaseParent, () => undefined)
    else releaseParent(entry.chain)
  }

  return {
    open(run, isNew) {
      if (isNew && run.parentRunId === undefined) {
        const accounts = [createAccount(run)]
        const entry = add(run.id, { accounts, parent: undefined })
        entry.holders++
        return { accounts, release: once(() => release(entry)) }
      }
      const entry = hold(run.id, async () => (await find(run.id)) ?? run)
      return Promise.resolve(entry.chain).then(({ accounts }) => ({ accounts, release: once(() => release(entry)) }))
    },
  }
}

function createUsageAccount(
  { id, budget = {}, usage }: RunRecord,
  read: (() => Promise<RunUsage | undefined>) | undefined,
): UsageAccount {
  let recorded = usage
  let reserved = NO_USAGE
  /** Everything that was ever reserved. */
  let total = NO_USAGE
  const isShared = read !== undefined && Object.keys(budget).length > 0
  let exhausted: string | undefined
  let raised = budget
  return {
    runId: id,
    limits: budget,
    raised: () => raised,
    raise({ tokens, costUsd, toolCalls }) {
      raised = {
        ...raised,
        ...definedMembers({
          tokens: larger(raised.tokens, tokens),
          costUsd: larger(raised.costUsd, costUsd),
          toolCalls: larger(raised.toolCalls, toolCalls),
        }),
      }
    },
    used: () => sumUsage(recorded, reserved),
    recorded: () => recorded,
    reserve(more) {
      reserved = sumUsage(reserved, more)
      total = sumUsage(total, more)
    },
    isShared,
    async refresh() {
      if (!isShared) return
      const [reservedBefore, totalBefore] = [reserved, total]
      const stored = await read()
      if (stored === undefined) return
      // The record may hold some of the usage that this process has not confirmed yet.
      const unconfirmed = sumUsage(reservedBefore, minus(total, totalBefore))
      recorded = atLeast(recorded, minus(stored, unconfirmed))
    },
    confirm(more) {
      reserved = minus(reserved, more)
      recorded = sumUsage(recorded, more)
    },
    cancel(more) {
      reserved = minus(reserved, more)
    },
    exhausted: () => exhausted,
    exhaust(message) {
      exhausted ??= message
    },
  }
}

const larger = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? one : Math.max(one, other)

const minus = (one: RunUsage, other: RunUsage): RunUsage => ({
  inputTokens: one.inputTokens - other.inputTokens,
  outputTokens: one.outputTokens - other.outputTokens,
  costUsd: one.costUsd - other.costUsd,
  toolCalls: one.toolCalls - other.toolCalls,
})

const atLeast = (one: RunUsage, other: RunUsage): RunUsage => ({
  inputTokens: Math.max(one.inputTokens, other.inputTokens),
  outputTokens: Math.max(one.outputTokens, other.outputTokens),
  costUsd: Math.max(one.costUsd, other.costUsd),
  toolCalls: Math.max(one.toolCalls, other.toolCalls),
})

function once(act: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) act()
    isDone = true
  }
}
