import type { NodeDirectory } from '@perdure/ports'
import { createSupervisedLoop, type SupervisedLoop, type SupervisedLoopDeps } from '../lifecycle/supervised-loop.ts'

export interface DeclarationWatchDeps extends SupervisedLoopDeps {
  readonly nodes?: Pick<NodeDirectory, 'list'> | undefined
  /** Compare the stored rows with what the living processes declare. */
  readonly redeclare: readonly (() => Promise<void>)[]
}

const EVERY_MS = 10_000

/** Follows the configurations of the living processes, and ends the grace period of rows that none of them declares. */
export const createDeclarationWatch = (deps: DeclarationWatchDeps): SupervisedLoop =>
  createSupervisedLoop(deps, {
    name: 'declarations',
    async work() {
      for (const redeclare of deps.redeclare) await redeclare()
      return EVERY_MS
    },
  })
