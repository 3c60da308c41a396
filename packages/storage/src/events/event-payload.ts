import type { JsonText } from '@perdure/ports'

type Members = Readonly<Record<string, unknown>>

interface Translation {
  /** What the text of a payload in earlier words contains. */
  readonly mark: string
  /** Returns its argument if it is in the words of this version. */
  readonly translate: (members: Members) => Members
}

const TOOL_KEY: Translation = {
  mark: '"effectId"',
  translate(members) {
    const { effectId, ...others } = members
    return effectId === undefined ? members : { ...others, idempotencyKey: effectId }
  },
}

/** How the payloads of earlier versions are read, by the type of the event. */
const TRANSLATIONS: Readonly<Record<string, Translation>> = {
  'approval.resolved': {
    mark: '"granted"',
    translate: (members) => (members.decision === 'granted' ? { ...members, decision: 'approved' } : members),
  },
  'tool.execute.start': TOOL_KEY,
  'tool.execute.end': TOOL_KEY,
  'tool.execute.error': TOOL_KEY,
}

/** The payload of a stored event, in the words of this version. */
export function toEventPayload(type: string, payload: string): JsonText {
  const translation = TRANSLATIONS[type]
  if (translation === undefined || !payload.includes(translation.mark)) return payload as JsonText
  const members = JSON.parse(payload) as Members
  const translated = translation.translate(members)
  return (translated === members ? payload : JSON.stringify(translated)) as JsonText
}
