import {
  type Conflict,
  isRefusal,
  type JsonText,
  type PerdureError,
  perdureError,
  type StepRecord,
  toJsonText,
  type Write,
} from '@perdure/ports'
import { isLongerThan } from '../json/json-members.ts'
import { isNonRetryable } from '../runs/final-failure.ts'
import { NonRetryableError } from '../runs/non-retryable-error.ts'
import { toRunError } from '../runs/run-error.ts'
import { causesOf } from '../runs/thrown-value.ts'
import type { CallScope } from './call-scope.ts'
import type { Entry } from './journal-entry.ts'
import type { ShownResultFile } from './result-files.ts'

/** A result as the commit of its call records it. */
export interface RecordedResult {
  /** Missing for `undefined`. */
  readonly text?: JsonText | undefined
  /** The file with the text, if it is too long for the record of the call. */
  readonly file?: ShownResultFile | undefined
  /** The writes of the file. */
  readonly writes: readonly Write[]
}

const NOTHING: RecordedResult = { writes: [] }

/**
 * Converts a value to the result of a call. The content of a long result is durable when this resolves.
 *
 * @throws PerdureError `validation-failed` for a result that is too long for a file; `file-quota-exceeded`
 */
export async function toRecordedResult(
  { run, maxResultBytes, resultFiles }: Pick<CallScope, 'run' | 'maxResultBytes' | 'resultFiles'>,
  { name }: Pick<StepRecord, 'name'>,
  value: unknown,
): Promise<RecordedResult> {
  if (value === undefined) return NOTHING
  const text = toJsonText(value)
  if (!isLongerThan(text, maxResultBytes)) return { text, writes: [] }
  const { maxBytes } = resultFiles
  if (isLongerThan(text, maxBytes)) {
    const ofFiles = maxBytes > maxResultBytes ? `, and longer than a file may be: ${maxBytes} bytes` : ''
    throw perdureError('validation-failed', {
      message: `the result is longer than ${maxResultBytes} bytes${ofFiles}`,
      hint: 'return less, or raise runs.maxResultBytes or files.maxBytes',
    })
  }
  return { text, ...(await resultFiles.store(run, name, text)) }
}

/** The members of a call that refer to its result. */
export const resultMembers = ({ text, file }: RecordedResult): Pick<StepRecord, 'result' | 'resultFile'> =>
  file === undefined ? { result: text } : { resultFile: { id: file.id, bytes: file.bytes } }

/** Whether the file of a result did not fit into the quota of its owner. */
export const isOverQuota = ({ file }: RecordedResult, conflict: Conflict): boolean =>
  file !== undefined && conflict.type === 'file.insert'

/** The call with its result, which is in a file. @throws PerdureError `storage-unavailable`, with the id of the file */
export async function withResult(
  { resultFiles }: Pick<CallScope, 'resultFiles'>,
  step: StepRecord,
): Promise<StepRecord> {
  const { resultFile } = step
  return resultFile === undefined ? step : { ...step, result: await resultFiles.read(resultFile, step) }
}

/** Lets a fork hold the files with the results of the calls that it copies. */
export function keepResultFiles(runId: string, copied: readonly StepRecord[]): readonly Write[] {
  const ids = [...new Set(copied.flatMap(({ resultFile }) => (resultFile === undefined ? [] : [resultFile.id])))]
  return ids.length === 0 ? [] : [{ type: 'file.keep', runId, ids }]
}

interface Recording<T> {
  readonly value: T
  /** The result in place of one that cannot be recorded: it is too long, or the quota of the owner is used up. */
  readonly unrecordable?: ((error: unknown) => T) | undefined
  /** The entry that records the result, with its writes. */
  readonly entryOf: (result: RecordedResult, value: T) => Entry
}

/** @throws NonRetryableError if the result cannot be recorded: another execution would return it again */
export async function recordResult<T>(
  scope: CallScope,
  step: Pick<StepRecord, 'name'>,
  { value, unrecordable, entryOf }: Recording<T>,
): Promise<RecordedResult> {
  const record = async (returned: T) => {
    const result = await toRecordedResult(scope, step, returned)
    const entry = entryOf(result, returned)
    if (result.file === undefined) await scope.journal.record(entry)
    else await recordFile(scope, result, entry)
    return result
  }
  try {
    return await record(value)
  } catch (error) {
    if (!isRefused(error)) throw error
    if (unrecordable !== undefined) return record(unrecordable(error))
    throw new NonRetryableError(toRunError(error).message, { code: error.code, cause: error })
  }
}

/** A commit of its own, because the quota of the owner can refuse it. */
async function recordFile({ journal, resultFiles }: CallScope, result: RecordedResult, entry: Entry): Promise<void> {
  const conflict = await journal.recordAlone(entry)
  if (conflict === undefined) return
  throw isOverQuota(result, conflict) ? resultFiles.quotaExceeded() : perdureError('run-not-active')
}

const isRefused = (thrown: unknown): thrown is PerdureError =>
  isRefusal(thrown) && (thrown.code === 'validation-failed' || thrown.code === 'file-quota-exceeded')

/** Whether `recordResult` has thrown this for a result. */
export const isUnrecordable = (thrown: unknown): boolean => isNonRetryable(thrown) && causesOf(thrown).some(isRefused)
