import { describe, it } from 'vitest'
import { findTool, missingMessage, type ToolName } from './machine-tools.ts'
import { markOf } from './skip-reason.ts'

/**
 * Runs tests only where these tools are there. Elsewhere they are skipped, and `tooling/run-summary.ts` names the missing
 * tools in the last lines of the run. In CI, they fail instead.
 */
export function needsTool(...names: readonly ToolName[]) {
  const missing = names.filter((name) => findTool(name) === undefined)
  const isMissing = missing.length > 0
  const titleOf = (title: string) => (isMissing ? `${title} ${markOf(missing)}` : title)
  const isSkipped = isMissing && !process.env.CI
  const fail = () => {
    throw new Error(missing.map(missingMessage).join('\n'))
  }
  const suite = (title: string, tests: () => void): void =>
    void describe.skipIf(isSkipped)(titleOf(title), isMissing && !isSkipped ? () => it('has its tools', fail) : tests)
  const test = (title: string, run: () => Promise<void> | void): void =>
    it.skipIf(isSkipped)(titleOf(title), isMissing ? fail : run)
  return { describe: suite, it: test }
}
