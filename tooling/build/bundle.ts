import { writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { BuildOptions, Plugin } from 'rolldown'
import { noticesOf } from './notices.ts'

export interface BundlePlan {
  /** Files that a program imports or a process begins with; they share their code. */
  readonly entries: readonly string[]
  /** Files that a thread begins with: it shares no module with others, so each has all it uses in one file. */
  readonly threads: readonly string[]
  /** Packages that stay outside of the code of processes, and of threads. */
  readonly external: readonly string[]
  readonly externalOfThreads: readonly string[]
  /** Everything lies directly in here, one folder below the package. */
  readonly dir: string
  /** The file for the licences of foreign code that became part; there is none when there is no such code. */
  readonly notices: string
}

/** Few files instead of one per module: each costs whoever starts a server time and memory. Names and lines stay readable. */
export function planBundles(plan: BundlePlan): BuildOptions[] {
  const notices = writeNotices(plan.notices)
  const bundleOf = (files: readonly string[], external: readonly string[], format: 'esm' | 'cjs'): BuildOptions => ({
    input: Object.fromEntries(files.map((file) => [basename(file, '.ts'), file])),
    platform: 'node',
    resolve: { conditionNames: ['perdure-source', 'import', 'module', 'node', 'default'] },
    external: external.map((name) => new RegExp(`^${name}(?:/|$)`)),
    plugins: [notices, oneByteText, takenBuiltins],
    output: {
      dir: plan.dir,
      format,
      sourcemap: true,
      entryFileNames: format === 'cjs' ? '[name].cjs' : '[name].js',
      chunkFileNames: '[name].js',
      comments: { jsdoc: false },
      // What several files need and an entry needs at once is one file.
      codeSplitting: { groups: [{ name: 'shared', tags: ['$initial'], minShareCount: 2 }] },
    },
  })
  return [
    bundleOf(plan.entries, plan.external, 'esm'),
    // A thread that needs no loader of ES modules starts without one.
    ...plan.threads.map((file) => bundleOf([file], plan.externalOfThreads, 'cjs')),
  ]
}

/** A text with one letter beyond Latin-1 takes two bytes a letter for as long as the process lives: such letters are escaped. */
const oneByteText: Plugin = {
  name: 'one-byte-text',
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle)) if (file.type === 'chunk') file.code = file.code.replace(WIDE, escaped)
  },
}

const WIDE = /[^\0-\xff]/g
const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

/**
 * An import of a module of Node.js lists all its members, and to read some of them loads more of Node.js: all of `fetch` for the
 * `WebSocket` of `node:http`, all streams of files for `node:fs`. What is taken from the module itself loads nothing.
 */
const takenBuiltins: Plugin = {
  name: 'taken-builtins',
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type === 'chunk') file.code = file.code.replace(BUILTIN_IMPORT, taken)
    }
  },
}

const BUILTIN_IMPORT = /^import (?:\* as )?(\w+|\{[^}]*\}) from ("node:[\w/]+");$/gm
const taken = (_: string, names: string, module: string) =>
  `const ${names.replaceAll(' as ', ': ')} = globalThis.process.getBuiltinModule(${module});`

/** One file for all bundles of a plan. */
function writeNotices(path: string): Plugin {
  const moduleIds: string[] = []
  return {
    name: 'notices',
    writeBundle(_options, bundle) {
      for (const file of Object.values(bundle)) if (file.type === 'chunk') moduleIds.push(...file.moduleIds)
      const text = noticesOf(moduleIds)
      if (text !== '') writeFileSync(path, text)
    },
  }
}
