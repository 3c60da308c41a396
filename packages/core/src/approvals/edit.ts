import {
  type ApprovalRecord,
  type CheckJson,
  canonicalJson,
  fromJsonText,
  type JsonText,
  perdureError,
  toJsonText,
} from '@perdure/ports'
import { isLongerThan } from '../json/json-members.ts'

/** In bytes. The edited arguments are also an event of the log, so the limit of what was asked applies. */
const MAX_ARGS_BYTES = 262_144

type Editable = Pick<ApprovalRecord, 'id' | 'args' | 'argsSchema'>

/**
 * The arguments that replace those of the request; `undefined` if the decision leaves them as they are.
 *
 * @throws PerdureError `approval-not-editable`; `validation-failed` if they are sent with a denial, are too long, or do not
 *   match the schema of the approval
 */
export async function checkedEdit(
  { id, args: asked, argsSchema }: Editable,
  { approved, args }: { readonly approved: boolean; readonly args?: unknown },
  checkJson: CheckJson | undefined,
): Promise<JsonText | undefined> {
  if (args === undefined) return undefined
  if (argsSchema === undefined) {
    throw perdureError('approval-not-editable', {
      message: `the arguments of the approval ${id} cannot be changed`,
      hint: 'decide without args, or ask with the option editable',
    })
  }
  if (!approved) throw invalid('a denied call has no arguments')
  const text = toJsonText(args)
  if (isLongerThan(text, MAX_ARGS_BYTES)) throw invalid(`longer than ${MAX_ARGS_BYTES} bytes`)
  if (asked !== undefined && canonicalJson(fromJsonText(asked)) === canonicalJson(fromJsonText(text))) return undefined
  const problem = await problemOf(argsSchema, args, checkJson)
  if (problem !== undefined) throw invalid(problem)
  return text
}

const ANY = 'true'

async function problemOf(
  argsSchema: JsonText,
  args: unknown,
  checkJson: CheckJson | undefined,
): Promise<string | undefined> {
  if (argsSchema === ANY) return undefined
  if (checkJson === undefined) return 'this server cannot check arguments against a schema'
  try {
    return await checkJson(fromJsonText(argsSchema), args)
  } catch {
    return 'the schema of the approval cannot be used to check them'
  }
}

const invalid = (problem: string) =>
  perdureError('validation-failed', {
    message: `args: ${problem}`,
    hint: 'send arguments that match argsSchema of the approval, or none to approve those that were asked for',
  })
