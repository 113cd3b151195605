/** Where a running `ipc listen` answers, unless --socket says otherwise. */
export const DEFAULT_CONTROL_SOCKET = '/run/ipc/ipc.sock';
