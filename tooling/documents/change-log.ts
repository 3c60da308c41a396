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

/** The headings that changesets writes for a release. */
const KINDS = ['Major', 'Minor', 'Patch'] as const

interface Note {
  readonly kind: (typeof KINDS)[number]
  readonly text: string
}

function unreleased(): readonly string[] {
  const notes = globSync('.changeset/*.md', { cwd: root })
    .sort()
    .map((path) => noteOf(readFileSync(join(root, path), 'utf8')))
  const kinds = KINDS.filter((kind) => notes.some((note) => note.kind === kind))
  if (kinds.length === 0) return []
  return ['## Not released yet', ...kinds.flatMap((kind) => [`### ${kind} Changes`, listOf(notes, kind)])]
}

function noteOf(changeSet: string): Note {
  const [, head = '', text = ''] = /^---\n(.*?)^---\n(.*)$/ms.exec(changeSet) ?? []
  const kind = KINDS.find((one) => head.includes(`: ${one.toLowerCase()}\n`)) ?? 'Patch'
  return { kind, text: text.trim() }
}

/** Changes that break something come first. */
function listOf(notes: readonly Note[], kind: Note['kind']): string {
  const texts = notes.filter((note) => note.kind === kind).map(({ text }) => text)
  const isBreaking = (text: string) => /^Breaking:/m.test(text)
  return [...texts.filter(isBreaking), ...texts.filter((text) => !isBreaking(text))]
    .map((text) => `- ${text.replaceAll('\n', '\n  ')}`)
    .join('\n')
}
