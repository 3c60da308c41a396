/** How the subjects of users of chat platforms begin. A bridge in the process of the server acts for them; they have no credentials. */
export const CHAT_SUBJECT_PREFIX = 'chat:'
