import { perdureError, type Refusal } from '@perdure/ports'
import { describeLost, type HeldFiles } from '../file/held-files.ts'
import { type Rescued, type RescueRequest, rescueFor } from '../file/rescue.ts'
import { markUnsaved } from '../file/rescued-copy.ts'

/** Notices that files of the open database were removed or replaced, and saves their content. */
export interface FileGuard {
  /** The error for every caller once a file is lost. Reads the disk at most every 100 ms, or always with `isDue`. */
  check(isDue?: boolean): Refusal | undefined
  /** Saves the content. Resolves to the error to report, whose hint tells the operator what to do. Never rejects. */
  save(): Promise<Refusal>
}

export interface FileGuardParts {
  readonly path: string
  readonly held: HeldFiles
  /** Saves the content through an open connection. */
  readonly rescue: (request: RescueRequest) => Promise<Rescued>
  /** Epoch milliseconds. */
  readonly now: () => number
  /** A monotonic clock, in milliseconds. */
  readonly monotonicMs?: (() => number) | undefined
  /** Waits this many milliseconds. */
  readonly pause?: ((ms: number) => Promise<void>) | undefined
}

const CHECK_MS = 100
/** A recursive deletion takes a while: the first lost file may not be the last. */
const SETTLE_MS = 500
const RETRY_MS = 1_000
/** How long a deleted file that fits nowhere is kept open, so that the operator can free space or copy it: 10 minutes. */
const MAX_ATTEMPTS = 600

export function createFileGuard(parts: FileGuardParts): FileGuard {
  const { path, held, now, monotonicMs = () => performance.now(), pause = sleep } = parts
  let checkedMs = Number.NEGATIVE_INFINITY
  let fault: Refusal | undefined

  const attempt = async (): Promise<Outcome> => {
    const request = rescueFor(path, held, now())
    if (request === undefined) return { copy: undefined }
    try {
      return held.isDiskGone() ? 'disk-gone' : await parts.rescue(request)
    } catch (error) {
      return { error, request }
    }
  }

  const saveAll = async (): Promise<Outcome> => {
    let outcome = await attempt()
    for (let attempts = 1; attempts < MAX_ATTEMPTS && isUnsaved(outcome); attempts++) {
      if (held.whereabouts().name !== undefined) break
      await pause(RETRY_MS)
      outcome = await attempt()
    }
    return outcome
  }

  return {
    check(isDue = false) {
      if (fault !== undefined || (!isDue && monotonicMs() - checkedMs < CHECK_MS)) return fault
      checkedMs = monotonicMs()
      const lost = held.lost()
      if (lost.length > 0)
        fault = perdureError('storage-failed', { message: `The storage stopped: ${describeLost(lost)}.` })
      return fault
    },
    async save() {
      await pause(SETTLE_MS)
      let outcome = await saveAll()
      // The database file may have been deleted after its log was merged into it.
      const isStillThere = rescueFor(path, held, now())?.hasDatabase !== false
      if (!isStillThere && isSavedInPlace(outcome)) outcome = await saveAll()
      if (isUnsaved(outcome)) markUnsaved(outcome.request)
      return reportOf(path, held, outcome)
    },
  }
}

type Unsaved = { readonly error: unknown; readonly request: RescueRequest }
type Outcome = Rescued | Unsaved | 'disk-gone'

const isUnsaved = (outcome: Outcome): outcome is Unsaved => typeof outcome === 'object' && 'error' in outcome

const isSavedInPlace = (outcome: Outcome): boolean =>
  typeof outcome === 'object' && 'copy' in outcome && outcome.copy === undefined

function reportOf(path: string, held: HeldFiles, outcome: Outcome): Refusal {
  const lost = describeLost(held.lost(), (file) => file)
  if (outcome === 'disk-gone') {
    return reportError(`${lost}. The disk of the folder is no longer mounted.`, {
      hint: 'Mount the disk again, then start the server. The files on that disk hold all data.',
    })
  }
  if (isUnsaved(outcome)) {
    const { name, descriptor } = held.whereabouts()
    const message = `${lost}. The data could not be saved.`
    const hint =
      name === undefined
        ? `Restore a backup. Until the process ends, ${descriptor ?? 'its open file'} is the deleted file.`
        : `Move ${name} back to ${path}, and remove ${path}.rescued-*.failed; then start the server.`
    return reportError(message, { hint, cause: outcome.error })
  }
  if (outcome.copy === undefined) {
    return reportError(`${lost}. The database file holds all data.`, {
      hint: 'Find out which program removes or replaces the files, then start the server.',
    })
  }
  return reportError(`${lost}. All data was saved as ${outcome.copy}.`, {
    hint: `Run \`perdure restore ${outcome.copy}\`, then start the server.`,
  })
}

const reportError = (message: string, options: { readonly hint: string; readonly cause?: unknown }): Refusal =>
  perdureError('storage-failed', { message: `The storage stopped: ${message}`, ...options })

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
