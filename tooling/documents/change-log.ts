import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** The change log: the changes since the last release, from the change sets, and those of each release. */
export function changeLog(): string {
  const released = join(root, 'packages/perdure/CHANGELOG.md')
  return [
    '# Change log',
    'All packages have the same version. The changes that are not released yet are at the top.',
    ...unreleased(),
    existsSync(released) ? readFileSync(released, 'utf8').replace(/^# .*\n+/, '') : '',
  ]
    .join('\n\n')
    .trimEnd()
    .concat('\n')
}

function unreleased(): readonly string[] {
  const notes = globSync('.changeset/*.md', { cwd: root })
    .sort()
    .map((path) => readFileSync(join(root, path), 'utf8').replace(/^---\n.*?^---\n/ms, ''))
    .map((text) => `- ${text.trim().replaceAll('\n', '\n  ')}`)
  return notes.length === 0 ? [] : ['## Not released yet', notes.join('\n')]
}
