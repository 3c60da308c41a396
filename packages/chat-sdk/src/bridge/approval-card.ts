import { Actions, Button, Card, type CardElement, CardText } from 'chat'

export const APPROVE = 'perdure-approve'
export const DENY = 'perdure-deny'

/** The members of an approval that a card shows. */
export interface ShownApproval {
  readonly id: string
  readonly runId: string
  readonly name: string
  readonly title?: string | undefined
  readonly args?: unknown
  readonly payload?: unknown
  readonly status: string
  readonly reason?: string | undefined
}

interface ButtonValue {
  readonly approvalId: string
  readonly runId: string
}

const VALUE = /^([A-Za-z0-9_-]{1,128}) ([A-Za-z0-9_-]{1,128})$/

/** What a button of a card stands for; `undefined` for a value that the bridge has not made. */
export function readButton(value: string | undefined): ButtonValue | undefined {
  const [, approvalId, runId] = VALUE.exec(value ?? '') ?? []
  return approvalId === undefined || runId === undefined ? undefined : { approvalId, runId }
}

const MAX_DETAIL = 1_500

function detailOf({ args, payload }: ShownApproval): string | undefined {
  const detail = args ?? payload
  if (detail === undefined || detail === null) return undefined
  const text = JSON.stringify(detail, undefined, 2)
  return text.length > MAX_DETAIL ? `${text.slice(0, MAX_DETAIL)}…` : text
}

const textsOf = (approval: ShownApproval) => {
  const detail = detailOf(approval)
  return detail === undefined ? [] : [CardText(`\`\`\`\n${detail}\n\`\`\``)]
}

export function openCard(approval: ShownApproval): CardElement {
  const value = `${approval.id} ${approval.runId}`
  return Card({
    title: approval.title ?? approval.name,
    children: [
      ...textsOf(approval),
      Actions([
        Button({ id: APPROVE, label: 'Approve', style: 'primary', value }),
        Button({ id: DENY, label: 'Decline', style: 'danger', value }),
      ]),
    ],
  })
}

const OUTCOMES: Readonly<Record<string, string>> = { approved: 'Approved', denied: 'Declined', expired: 'Expired' }

/** The same card without buttons. @param by the mention of the person who decided */
export function closedCard(approval: ShownApproval, by: string | undefined): CardElement {
  const outcome = OUTCOMES[approval.status] ?? approval.status
  return Card({
    title: approval.title ?? approval.name,
    children: [...textsOf(approval), CardText(by === undefined ? outcome : `${outcome} by ${by}`)],
  })
}
