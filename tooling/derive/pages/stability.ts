import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CLOSE_CODES, configFields, ERRORS, EVENTS, METRICS, OPERATIONS, SCOPES } from '@perdure/protocol'
import { packages, root, rootManifest } from '../../consumer/packages.ts'
import { code, page, table } from '../markdown.ts'

type Level = 'stable' | 'experimental' | 'internal'

const ADAPTER = 'what an adapter of another storage implements, and its contract suites'

/** The level of each published package, and who imports it. */
const PACKAGES: Readonly<Record<string, readonly [Level, string]>> = {
  perdure: ['stable', 'agents, workflows, servers and tests: every entry point'],
  'create-perdure': ['stable', 'the command `npm create perdure`; not its modules'],
  '@perdure/ai-sdk': ['stable', 'through `perdure/ai-sdk`'],
  '@perdure/chat-sdk': ['stable', 'through `perdure/chat-sdk`'],
  '@perdure/cli': ['stable', 'the command `perdure`; not its modules'],
  '@perdure/client': ['stable', 'a page or a service that only calls a server'],
  '@perdure/console': ['internal', 'the server'],
  '@perdure/core': ['experimental', 'a program that uses the domain without a server'],
  '@perdure/evals': ['stable', 'through `perdure/evals`'],
  '@perdure/http': ['internal', 'the server'],
  '@perdure/in-memory': ['experimental', 'a program that uses the domain without a server'],
  '@perdure/interop': ['internal', 'the server'],
  '@perdure/mcp': ['internal', 'the server'],
  '@perdure/platform-node': ['experimental', 'a program that uses the domain without a server'],
  '@perdure/ports': ['experimental', ADAPTER],
  '@perdure/postgres': ['stable', 'installed for `storage.kind: postgres`; not its modules'],
  '@perdure/protocol': ['experimental', 'the tables of the wire as data; the wire itself is stable'],
  '@perdure/realtime': ['internal', 'the server'],
  '@perdure/server-app': ['stable', 'through `perdure` and `perdure/testing`'],
  '@perdure/sqlite': ['internal', 'the server'],
  '@perdure/testkit': ['experimental', ADAPTER],
}

/** The promised surfaces that are not packages. */
const SURFACES: readonly (readonly [
  surface: string,
  rows: number | undefined,
  level: Level,
  breaking: string,
  page: string,
])[] = [
  [
    'operations',
    OPERATIONS.length,
    'stable',
    'a lost or renamed operation, parameter, member or value; a new required one; a narrower input; a wider type in a response; another scope',
    'operations.md',
  ],
  ['events', Object.keys(EVENTS).length, 'stable', 'a lost type, subject or member; a wider type', 'events.md'],
  [
    'errors',
    Object.keys(ERRORS).length,
    'stable',
    'a lost identifier, another status or property. `message` and `hint` are texts and may change',
    'errors.md',
  ],
  [
    'close codes of WebSockets',
    Object.keys(CLOSE_CODES).length,
    'stable',
    'a lost name, another number',
    'realtime.md',
  ],
  ['scopes', Object.keys(SCOPES).length, 'stable', 'a lost scope', 'scopes.md'],
  ['metrics', Object.keys(METRICS).length, 'stable', 'a lost metric, other labels', 'metrics.md'],
  ['configuration fields', configFields.length, 'stable', 'a lost field', 'config.md'],
  [
    'commands of `perdure`',
    undefined,
    'stable',
    'a lost command, flag or exit code; a lost member with `--json`. Texts and tables for people may change',
    'cli.md',
  ],
  [
    'database files and schemas',
    undefined,
    'stable',
    'a version that cannot open the files of an earlier one. Tables and columns are internal',
    '../guides/upgrade.md',
  ],
  [
    'the protocols of other software',
    undefined,
    'stable',
    'what breaks a version of that software that the guides name. A release may add and drop versions',
    '../guides/chat-clients.md',
  ],
  [
    'names and attributes of spans',
    undefined,
    'experimental',
    'they follow conventions of OpenTelemetry that may change',
    'traces.md',
  ],
]

const DOCSTRING = /\/\*\*([\s\S]*?)\*\/\s*([^\n]*)/g
const KEYWORDS = new Set(['export', 'declare', 'readonly', 'const', 'function', 'interface', 'type'])

/** Every declaration with the tag `@deprecated`, and what the tag says. */
export const deprecatedIn = (source: string): readonly (readonly [name: string, note: string])[] =>
  [...source.matchAll(DOCSTRING)].flatMap(([, comment = '', declaration = '']) => {
    const [, note] = /@deprecated ([^\n]+)/.exec(comment) ?? []
    const name = declaration.match(/\w+/g)?.find((word) => !KEYWORDS.has(word)) ?? ''
    return note === undefined ? [] : [[code(name), note.trim()] as const]
  })

const deprecations = () =>
  globSync('{packages,apps}/*/src/**/*.ts', { cwd: root })
    .filter((path) => !/\.(?:test|fixture)\.ts$/.test(path))
    .toSorted()
    .flatMap((path) => deprecatedIn(readFileSync(join(root, path), 'utf8')))

function packageRows(): readonly (readonly string[])[] {
  return packages.map(({ manifest: { name } }) => {
    const [level, use] = PACKAGES[name] ?? []
    if (level === undefined || use === undefined) throw new Error(`stability.ts names no level for ${name}`)
    return [code(name), level, use, `[exports](../../etc/${name.replaceAll('/', '.')}.api.md)`]
  })
}

export function stabilityPage(): string {
  const deprecated = deprecations()
  return page(
    'Stability',
    'What you can rely on from one release to the next. *Stable*: a breaking change comes only with a minor release before 1.0, and only with a ' +
      'major release after it; the change log names it in a paragraph that begins with `Breaking:`, and says what to do. *Experimental*: any ' +
      'release may change it, and the change log says so. *Internal*: may change at any time without a note.',
    `Perdure needs Node.js ${rootManifest.engines?.node ?? ''}. A minor release may raise this once that version of Node.js is no longer maintained.`,
    '## Surfaces',
    table(
      ['Surface', 'Rows', 'Level', 'A breaking change', 'List'],
      SURFACES.map(([surface, rows, level, breaking, list]) => [
        surface,
        rows === undefined ? '' : String(rows),
        level,
        breaking,
        `[${list.replace('../guides/', '')}](${list})`,
      ]),
    ),
    'A client must ignore members, events and headers that it does not know, and must expect new values of an enumeration and new forms of a value. ' +
      'A test compares operations, events, errors, close codes, scopes, metrics and configuration fields with those of the last release ' +
      '([wire.json](../../etc/wire.json)): it fails on a breaking change that no change set announces.',
    '## Packages',
    'Import from `perdure`. All packages have the same version; combine only equal versions.',
    table(['Package', 'Level', 'For', 'Report'], packageRows()),
    '## Deprecated',
    deprecated.length === 0
      ? 'Nothing is deprecated. A deprecated name works for at least one minor release after the one that deprecates it.'
      : table(['Name', 'Instead'], deprecated),
    '## Upgrades and downgrades',
    'Each version opens the database of every earlier version. An earlier version refuses a newer database before it writes anything; ' +
      '[the way back](../guides/upgrade.md#go-back) is a backup. [SECURITY.md](../../SECURITY.md#supported-versions) lists the versions that receive fixes.',
  )
}
