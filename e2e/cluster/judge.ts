import type { Dump, History } from './history.ts'
import { judgeClients } from './judge-clients.ts'
import { judgeRuns } from './judge-runs.ts'

/** Names every broken promise in what clients recorded and what is stored at the end. */
export const judge = (history: History, dump: Dump): readonly string[] =>
  Object.entries(INVARIANTS).flatMap(([name, violations]) =>
    violations(history, dump).map((violation) => `${name}: ${violation}`),
  )

export const INVARIANTS = { ...judgeClients, ...judgeRuns }
