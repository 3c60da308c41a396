const WORKFLOW = 'workflow:'

/** What a client names by one text: the id of an agent, or `workflow:` and the id of a workflow. */
export const namedTarget = (name: string): { readonly kind: 'agent' | 'workflow'; readonly id: string } =>
  name.startsWith(WORKFLOW) ? { kind: 'workflow', id: name.slice(WORKFLOW.length) } : { kind: 'agent', id: name }

export const targetName = ({ kind, id }: { readonly kind: 'agent' | 'workflow'; readonly id: string }): string =>
  kind === 'workflow' ? WORKFLOW + id : id
