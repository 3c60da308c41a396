/**
 * Runs the tests that a change can break, by the imports of the changed files: `pnpm test:changed [commit]`. Compares with
 * the last commit, or with the given one. The tests of the built server and those of a second configuration are left to
 * `npm test`.
 */
import { startVitest } from 'vitest/node'

const PROJECTS = ['unit', 'unit-with-database', 'tooling']

// The random histories of the engine take as long as all other tests of core.
process.env.N ??= '200'
const changed = process.argv[2] ?? true
await startVitest('test', [], { run: true, changed, project: PROJECTS, passWithNoTests: true })
