import { describe, it } from 'vitest'
import { markOf } from './skip-reason.ts'

/**
 * Runs tests only where a tool is installed. Elsewhere they are skipped, and `tooling/run-summary.ts` names the tool in
 * the last lines of the run. In CI they run in any case, so that a missing tool fails the run.
 */
export function needsTool(tool: string, isInstalled: boolean) {
  const isSkipped = !isInstalled && !process.env.CI
  const titleOf = (title: string) => (isSkipped ? `${title} ${markOf(tool)}` : title)
  return {
    describe: (title: string, suite: () => void): void => void describe.skipIf(isSkipped)(titleOf(title), suite),
    it: (title: string, test: () => Promise<void> | void): void => it.skipIf(isSkipped)(titleOf(title), test),
  }
}
