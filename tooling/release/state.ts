import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { packages, root } from '../consumer/packages.ts'

/** What the workflow `release` has to do for a commit: propose a version, publish it, or nothing. */
type Due = 'version' | 'publication' | 'nothing'

export const dueOf = (pending: readonly string[], isTagged: boolean): Due =>
  pending.length > 0 ? 'version' : isTagged ? 'nothing' : 'publication'

/** Prints the state as outputs of a step. */
function print(): void {
  const [first] = packages
  const version = first?.manifest.version ?? ''
  const pending = readdirSync(join(root, '.changeset')).filter((name) => name.endsWith('.md'))
  const tags = execFileSync('git', ['tag', '--list', `v${version}`], { cwd: root, encoding: 'utf8' })
  console.log(`due=${dueOf(pending, tags.trim() !== '')}\nversion=${version}`)
}

if (process.argv[1] === import.meta.filename) print()
