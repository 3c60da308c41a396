interface ApprovalStatusSpec {
  /** Whether the approval still waits for a decision. */
  readonly isOpen: boolean
  /** Whether a person has decided. */
  readonly isDecision: boolean
}

/** The statuses of an approval. Every other list of approval statuses derives from this table. */
const APPROVAL_STATUSES = {
  pending: { isOpen: true, isDecision: false },
  approved: { isOpen: false, isDecision: true },
  denied: { isOpen: false, isDecision: true },
  expired: { isOpen: false, isDecision: false },
} as const satisfies Record<string, ApprovalStatusSpec>

type Table = typeof APPROVAL_STATUSES
type StatusWith<Spec> = { [Name in keyof Table]: Table[Name] extends Spec ? Name : never }[keyof Table]

export type ApprovalStatus = keyof Table
type OpenApprovalStatus = StatusWith<{ readonly isOpen: true }>
export type ResolvedApprovalStatus = StatusWith<{ readonly isOpen: false }>
type DecidedApprovalStatus = StatusWith<{ readonly isDecision: true }>

export const APPROVAL_STATUS_NAMES = Object.keys(APPROVAL_STATUSES) as readonly ApprovalStatus[]

export const isOpenApproval = (status: ApprovalStatus): status is OpenApprovalStatus => APPROVAL_STATUSES[status].isOpen

export const isDecision = (status: ApprovalStatus): status is DecidedApprovalStatus =>
  APPROVAL_STATUSES[status].isDecision

export const APPROVAL_DECISIONS = APPROVAL_STATUS_NAMES.filter(isDecision)
