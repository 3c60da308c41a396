import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type GuideBlock, guideBlocks, missingLine, unannouncedErrors } from './guide-blocks.ts'
import { linkPackages } from './guide-packages.ts'
import { type GuideShell, openGuideShell } from './guide-shell.ts'
import { removeFolder } from './perdure-process.ts'
import { unusedPort } from './unused-port.ts'

const root = join(import.meta.dirname, '..')

/** Compile cache of Node.js, shared so that each `perdure` starts sooner. */
const compiled = mkdtempSync(join(tmpdir(), 'perdure-guides-compiled-'))
export const removeCompileCache = () => removeFolder(compiled)

export interface GuideReport {
  readonly executed: readonly GuideBlock[]
  readonly skipped: readonly GuideBlock[]
  /** Everything the blocks printed, in order. */
  readonly output: string
}

/**
 * Executes the blocks of a guide in order, as a reader would: in one shell, in an empty folder, with the packages
 * installed and `perdure` on the PATH. Rejects with the line of the first block that fails, prints an error identifier
 * that the guide does not mention, or whose output differs from the following `text` block.
 *
 * @param installed `node_modules` of a project with the packed packages; default: the packages of the workspace
 */
export async function runGuide(path: string, installed?: string): Promise<GuideReport> {
  const document = readFileSync(join(root, path), 'utf8')
  const blocks = guideBlocks(document)
  const port = await unusedPort()
  const workdir = mkdtempSync(join(tmpdir(), 'perdure-guide-'))
  const folder = emptyFolder(workdir, installed)
  const shell = openGuideShell(workdir, { cwd: folder, env: environmentOf(workdir, port, installed), prelude: PRELUDE })
  const guide: Guide = { document, shell, port, token: '' }
  const outputs: string[] = []
  try {
    for (const block of blocks.filter(({ skip }) => skip === undefined)) {
      outputs.push(await execute(guide, block, outputs.at(-1) ?? '').catch(rethrowWith(`${path}:${block.line}`)))
    }
  } finally {
    await shell.close()
    removeFolder(workdir)
  }
  const isSkipped = ({ skip }: GuideBlock) => skip !== undefined
  return {
    executed: blocks.filter((block) => !isSkipped(block)),
    skipped: blocks.filter(isSkipped),
    output: outputs.join(''),
  }
}

interface Guide {
  readonly document: string
  readonly shell: GuideShell
  readonly port: number
  /** The token of the last `perdure dev`. */
  token: string
}

/** Executes a block and returns its output. Replaces the port and the token placeholder, as a reader would. */
async function execute(guide: Guide, block: GuideBlock, before: string): Promise<string> {
  const { document, shell, port } = guide
  const text = block.text.replaceAll('8080', String(port)).replaceAll('the token it printed', guide.token)
  if (block.language === 'text') {
    const line = missingLine(text, before)
    if (line === undefined) return before
    throw new Error(`expected the line: ${line}\n--- output:\n${before}`)
  }
  const target = block.file === undefined ? block.more && `>> ${block.more}` : `> ${block.file}`
  if (target !== undefined) return shell.run(`cat ${target} <<'END_OF_FILE'\n${text}END_OF_FILE`)
  if (block.language !== 'sh')
    throw new Error(
      `a block of ${block.language} needs file=<name> or more=<name>, so that a later block can execute it`,
    )
  if (block.isServer) {
    const output = await shell.serve(text)
    // `perdure dev` prints its token only on a terminal; the session file has it too.
    const session = await shell.run('cat .graphorin/dev-session.json 2> /dev/null || true')
    guide.token = /perdure_local_v1_\w+/.exec(session)?.[0] ?? guide.token
    return output
  }
  if (block.isStopped) await shell.interrupt()
  const output = await shell.run(text)
  const unannounced = unannouncedErrors(output, document)
  if (unannounced.length === 0) return output
  throw new Error(`the guide does not mention ${unannounced.join(', ')}\n--- output:\n${output}`)
}

function rethrowWith(workdir: string) {
  return (error: unknown): never => {
    throw new Error(`${workdir}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Creates a folder as `npm install` would leave it, without the files that the guides write themselves. */
function emptyFolder(workdir: string, installed: string | undefined): string {
  const folder = join(workdir, 'folder')
  const modules = join(folder, 'node_modules')
  mkdirSync(folder)
  copyFileSync(join(root, 'README.md'), join(folder, 'README.md'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n')
  if (installed === undefined) linkPackages(modules)
  else symlinkSync(installed, modules)
  return folder
}

function environmentOf(workdir: string, port: number, installed: string | undefined): NodeJS.ProcessEnv {
  const modules = installed ?? join(root, 'node_modules')
  const own = Object.entries(process.env).filter(([name]) => !/^(PERDURE_|VITEST|NODE_OPTIONS$)/.test(name))
  return {
    ...Object.fromEntries(own),
    HOME: workdir,
    PATH: `${join(modules, '.bin')}:${dirname(process.execPath)}:${process.env.PATH}`,
    GUIDE_PERDURE: join(modules, '@perdure/cli/bin/perdure.js'),
    PERDURE_SERVER_PORT: String(port),
    NO_COLOR: '1',
    NODE_COMPILE_CACHE: compiled,
  }
}

/** Replaces `npm start`, because install and build have already run; limits `pgrep` to processes of this shell. */
const PRELUDE = `
npm() {
  [ "$1" = start ] || { echo "only npm start, not npm $*" >&2; return 1; }
  shift; [ "$1" != -- ] || shift
  node "$GUIDE_PERDURE" dev --demo "$@"
}
pgrep() { command pgrep -s 0 "$@"; }
`
