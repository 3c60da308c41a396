import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import {
  type FileJournal,
  formatResults,
  openJournal,
  parseResults,
  type ResultEntry,
  type TrialEntry,
  trialsIn,
} from '@perdure/evals'
import { cliError, usageError } from '../cli-error.ts'
import { lockResults } from './run-lock.ts'

export interface ResultsFile {
  readonly path: string
  readonly journal: FileJournal
  /**
   * Stores the results in their order under the path, in place of those of an earlier run. Evals that are invalid keep their earlier
   * results.
   */
  finish(made: FinishedRun): Promise<void>
  /** Leaves the results in the journal, for a run with `--resume`. */
  leave(): Promise<void>
}

export interface FinishedRun {
  readonly trials: readonly TrialEntry[]
  readonly invalid: readonly { readonly eval: string }[]
}

export interface ResultsFlags {
  readonly resume: boolean
  readonly restart: boolean
  /** The evals of a run that plays some of all evals: the results of the others are kept. */
  readonly only?: readonly string[] | undefined
}

/**
 * Opens the journal of a run, `<path>.part`, which becomes `path` at the end.
 *
 * @throws CliError `conflict` while another process writes it, and if the journal of a run that was cut off exists, unless the flags
 *   say what to do with it
 * @throws CliError `usage` if `path` should keep results, but is not a results file, and for a damaged journal
 */
export async function openResults(path: string, { resume, restart, only }: ResultsFlags): Promise<ResultsFile> {
  const part = `${path}.part`
  const unlock = lockResults(path)
  try {
    // Read before the first trial, which may cost money.
    if (only !== undefined) await readEntries(path)
    if (restart) await rm(part, { force: true })
    if (!resume && existsSync(part)) {
      throw cliError('eval-unfinished', {
        message: `${part} has the results of an eval run that was interrupted`,
        hint: 'add --resume to run only the missing trials, or --restart to start again',
        exit: 'conflict',
      })
    }
    const journal = await openPart(part)
    return { path, journal, ...ending({ path, part, only, journal, unlock }) }
  } catch (error) {
    unlock()
    throw error
  }
}

async function openPart(part: string): Promise<FileJournal> {
  try {
    return await openJournal(part)
  } catch (error) {
    throw usageError(
      error instanceof Error ? error.message : String(error),
      'mend the line, or add --restart to start again; the finished trials of the file are then made again',
    )
  }
}

interface Open extends Pick<ResultsFlags, 'only'> {
  readonly path: string
  readonly part: string
  readonly journal: FileJournal
  readonly unlock: () => void
}

function ending({ path, part, only, journal, unlock }: Open): Pick<ResultsFile, 'finish' | 'leave'> {
  return {
    async leave() {
      await journal.close()
      unlock()
    },
    async finish({ trials, invalid }) {
      await journal.close()
      const ofInvalid = new Set(invalid.map((one) => one.eval))
      const isKept = (name: string) => ofInvalid.has(name) || (only !== undefined && !only.includes(name))
      const earlier = await readEntries(path).catch(() => [])
      const kept = earlier.filter((entry) => entry.kind === 'trial' && isKept(entry.eval))
      // Answers cannot be told apart by their evals.
      const answers = kept.length === 0 && only === undefined ? [] : earlier.filter(({ kind }) => kind === 'answer')
      const made = parseResults(await readFile(part, 'utf8'), part).filter(({ kind }) => kind !== 'trial')
      const sorted = `${path}.sorted`
      const file = await open(sorted, 'w')
      await file.writeFile(formatResults(merged([...kept, ...answers], [...made, ...trials])))
      await file.sync()
      await file.close()
      await rename(sorted, path)
      await rm(part)
      unlock()
    },
  }
}

/** The results at `path`; none without the file. */
const readEntries = async (path: string): Promise<readonly ResultEntry[]> =>
  existsSync(path) ? parse(await readFile(path, 'utf8'), path) : []

/** An answer that both have is that of the new results. */
function merged(kept: readonly ResultEntry[], made: readonly ResultEntry[]): readonly ResultEntry[] {
  const answers = new Set(made.flatMap((entry) => (entry.kind === 'answer' ? [entry.key] : [])))
  return [...made, ...kept.filter((entry) => entry.kind !== 'answer' || !answers.has(entry.key))]
}

const run = promisify(execFile)
const MAX_BYTES = 256 * 1_048_576

/**
 * The trials of earlier results: those of a file, or of the file at `path` as a git revision has it.
 *
 * @throws CliError `usage` if there are none
 */
export async function readAgainst(
  source: string,
  { cwd, path }: { readonly cwd: string; readonly path: string },
): Promise<readonly TrialEntry[]> {
  const file = resolve(cwd, source)
  const entries = existsSync(file)
    ? parse(await readFile(file, 'utf8'), source)
    : await readRevision(source, { cwd, path })
  return trialsIn(entries)
}

async function readRevision(
  revision: string,
  { cwd, path }: { readonly cwd: string; readonly path: string },
): Promise<readonly ResultEntry[]> {
  const inside = relative(cwd, path)
  const object = `${revision}:./${inside}`
  let stdout: string
  try {
    ;({ stdout } = await run('git', ['show', '--end-of-options', object], { cwd, maxBuffer: MAX_BYTES }))
  } catch {
    throw usageError(
      `${revision} is neither a results file nor a git revision that has ${inside}`,
      `commit the results of perdure eval on ${revision}, or pass the path of a file`,
    )
  }
  return parse(stdout, object)
}

function parse(text: string, source: string): readonly ResultEntry[] {
  try {
    return parseResults(text, source)
  } catch (error) {
    throw usageError(
      error instanceof Error ? error.message : String(error),
      'pass a file that perdure eval has written',
    )
  }
}
