import { basename } from 'node:path'
import type { BuildOptions, Plugin } from 'rolldown'
import { type SupplyFiles, writeSupplyFiles } from './notices.ts'

export interface BundlePlan {
  /** Entry points of processes and of packages that other modules import; their bundles share code. */
  readonly entries: readonly string[]
  /** Entry points of threads; each becomes one file with everything it uses, as threads share no modules. */
  readonly threads: readonly string[]
  /** Packages that are not bundled into process code; `externalOfThreads` lists those left out of thread code. */
  readonly external: readonly string[]
  readonly externalOfThreads: readonly string[]
  /** The output folder, directly below the package. */
  readonly dir: string
  /** The files that list what is bundled. */
  readonly supply: SupplyFiles
}

/**
 * Bundles into few files instead of one per module, because each file costs startup time and memory. Names and lines
 * stay readable.
 */
export function planBundles(plan: BundlePlan): BuildOptions[] {
  const supply = writesSupplyFiles(plan.supply)
  const bundleOf = (files: readonly string[], external: readonly string[], format: 'esm' | 'cjs'): BuildOptions => ({
    input: Object.fromEntries(files.map((file) => [basename(file, '.ts'), file])),
    platform: 'node',
    resolve: { conditionNames: ['perdure-source', 'import', 'module', 'node', 'default'] },
    external: external.map((name) => new RegExp(`^${name}(?:/|$)`)),
    plugins: [supply, oneByteText, destructuredBuiltins],
    output: {
      dir: plan.dir,
      format,
      sourcemap: true,
      entryFileNames: format === 'cjs' ? '[name].cjs' : '[name].js',
      chunkFileNames: '[name].js',
      comments: { jsdoc: false },
      // Modules that several entries import statically go into one file.
      codeSplitting: { groups: [{ name: 'shared', tags: ['$initial'], minShareCount: 2 }] },
    },
  })
  return [
    bundleOf(plan.entries, plan.external, 'esm'),
    // CommonJS: a thread that does not load the ES module loader starts faster.
    ...plan.threads.map((file) => bundleOf([file], plan.externalOfThreads, 'cjs')),
  ]
}

/**
 * A string with one character beyond Latin-1 takes two bytes per character in memory, so such characters are escaped.
 */
const oneByteText: Plugin = {
  name: 'one-byte-text',
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle)) if (file.type === 'chunk') file.code = file.code.replace(WIDE, escaped)
  },
}

const WIDE = /[^\0-\xff]/g
const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

/**
 * Importing a Node.js module reads all its members, and reading some of them loads more of Node.js: all of `fetch` for
 * the `WebSocket` of `node:http`, all file streams for `node:fs`. Destructuring the module object reads only the
 * requested members.
 */
const destructuredBuiltins: Plugin = {
  name: 'destructured-builtins',
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type === 'chunk') file.code = file.code.replace(BUILTIN_IMPORT, destructured)
    }
  },
}

const BUILTIN_IMPORT = /^import (?:\* as )?(\w+|\{[^}]*\}) from ("node:[\w/]+");$/gm
const destructured = (_: string, names: string, module: string) =>
  `const ${names.replaceAll(' as ', ': ')} = globalThis.process.getBuiltinModule(${module});`

/** Writes one list for all bundles of a plan. */
function writesSupplyFiles(files: SupplyFiles): Plugin {
  const moduleIds: string[] = []
  return {
    name: 'supply-files',
    writeBundle(_options, bundle) {
      for (const file of Object.values(bundle)) if (file.type === 'chunk') moduleIds.push(...file.moduleIds)
      writeSupplyFiles(files, moduleIds)
    },
  }
}
