"""Requests that Apple rejects. Each must raise the library's APIException with Apple's code."""
import uuid

import attr
from appstoreserverlibrary.models.DefaultConfigurationRequest import DefaultConfigurationRequest
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.HeaderPosition import HeaderPosition
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.NotificationTypeV2 import NotificationTypeV2
from appstoreserverlibrary.models.PerformanceTestRequest import PerformanceTestRequest
from appstoreserverlibrary.models.RealtimeUrlRequest import RealtimeUrlRequest
from appstoreserverlibrary.models.TransactionHistoryRequest import TransactionHistoryRequest
from appstoreserverlibrary.models.UpdateAppAccountTokenRequest import UpdateAppAccountTokenRequest
from appstoreserverlibrary.models.UploadMessageImage import UploadMessageImage

from endpoints import consumption, consumption_v1, extension, history_query, mass_extension, message, now, png
from scenario import COINS, LOOKUPS_AN_HOUR, YEARLY
UNKNOWN = "2999999999999999"


def expect_refusals(side):
    def refuse(code, name, *arguments):
        side.refuse(code // 10_000, code, name, *arguments)

    subscribed = side.transactions("SUBSCRIBED/INITIAL_BUY")[0]
    expired = side.transactions("EXPIRED/VOLUNTARY")[0]
    asked = side.transactions("CONSUMPTION_REQUEST")[2]

    refuse(4000006, "get_transaction_info", "abc")
    refuse(4040010, "get_transaction_info", UNKNOWN)
    refuse(4000005, "get_transaction_history", subscribed.transactionId, "abc", TransactionHistoryRequest())
    refuse(4000013, "get_transaction_history", subscribed.transactionId, None,
           TransactionHistoryRequest(startDate=now(), endDate=now() - 1))
    refuse(4040010, "get_all_subscription_statuses", UNKNOWN)
    refuse(4040010, "get_refund_history", UNKNOWN, None)
    refuse(4040010, "get_app_transaction_info", UNKNOWN)
    refuse(4040010, "finish_transaction", UNKNOWN)
    refuse(4000183, "set_app_account_token", subscribed.originalTransactionId, UpdateAppAccountTokenRequest("abc"))
    refuse(4040005, "set_app_account_token", UNKNOWN, UpdateAppAccountTokenRequest(str(uuid.uuid4())))

    original = subscribed.originalTransactionId
    refuse(4000009, "extend_subscription_renewal_date", original, extension(extendByDays=91))
    refuse(4000011, "extend_subscription_renewal_date", original, extension(requestIdentifier="x" * 129))
    refuse(4040005, "extend_subscription_renewal_date", UNKNOWN, extension())
    refuse(4030004, "extend_subscription_renewal_date", expired.originalTransactionId, extension())
    name = "extend_renewal_date_for_all_active_subscribers"
    refuse(4000011, name, mass_extension(requestIdentifier="abc"))
    refuse(4000027, name, mass_extension(storefrontCountryCodes=[]))
    refuse(4000028, name, mass_extension(storefrontCountryCodes=["us"]))
    refuse(4040009, "get_status_of_subscription_renewal_date_extensions", str(uuid.uuid4()), YEARLY)

    refuse(4000035, "send_consumption_information", asked.transactionId, consumption(customerConsented=False))
    refuse(4000035, "send_consumption_data", asked.transactionId, consumption_v1(customerConsented=False))
    refuse(4000032, "send_consumption_data", asked.transactionId, consumption_v1(rawAccountTenure=99))
    refuse(4040010, "send_consumption_information", UNKNOWN, consumption())

    refuse(4000020, "get_test_notification_status", "abc")
    refuse(4040008, "get_test_notification_status", f"{uuid.uuid4()}_{now()}")
    query = history_query()
    refuse(4000013, "get_notification_history", None, attr.evolve(query, endDate=query.startDate - 1))
    refuse(4000012, "get_notification_history", None, attr.evolve(query, startDate=now() - 400 * 86_400_000))
    refuse(4000014, "get_notification_history", "abc", query)
    refuse(4000015, "get_notification_history", None, NotificationHistoryRequest(endDate=now()))
    refuse(4000019, "get_notification_history", None,
           attr.evolve(query, transactionId=original, notificationType=NotificationTypeV2.REFUND))

    messaging_refusals(side, refuse)

    # A rejected token has no error code.
    side.refuse(401, None, "get_transaction_info", original, client=side.caller(key_id="UNKNOWN"))
    side.refuse(401, None, "get_transaction_info", original, client=side.caller(issuer=str(uuid.uuid4())))
    side.refuse(404, 4040003, "get_transaction_info", original, client=side.caller(bundle="com.example.other"))
    if side.environment is Environment.SANDBOX:
        side.refuse(404, None, "look_up_order_id", "MAAAAAAAAA")
    else:
        exhaust_the_limit(side)


def messaging_refusals(side, refuse):
    image, text, other = uuid.uuid4(), uuid.uuid4(), uuid.uuid4()
    refuse(4000161, "upload_image", image, b"GIF89a")
    refuse(4000161, "upload_image", image, png(100, 100))
    side.call("upload_image", image, png())
    refuse(4090000, "upload_image", image, png())
    refuse(4040014, "delete_image", other)
    refuse(4040014, "upload_message", text, message(image=UploadMessageImage(other, "A star")))
    refuse(4000224, "upload_message", text, message(headerPosition=HeaderPosition.ABOVE_IMAGE))
    side.call("upload_message", text, message(image=UploadMessageImage(image, "A star")))
    refuse(4090001, "upload_message", text, message())
    refuse(4030019, "delete_image", image)
    refuse(4040015, "delete_message", other)
    # The library rejects texts that are too long, so set them without its check.
    for code, name, length in ((4000162, "header", 67), (4000163, "body", 145)):
        too_long = message()
        object.__setattr__(too_long, name, "x" * length)
        refuse(code, "upload_message", other, too_long)
    refuse(4040015, "configure_default_message", YEARLY, "en-US", DefaultConfigurationRequest(other))
    refuse(4000164, "get_default_message", YEARLY, "english")
    refuse(4000023, "get_default_message", COINS, "en-US")
    refuse(4040020, "get_default_message", YEARLY, "de-DE")
    refuse(4040020, "delete_default_message", YEARLY, "de-DE")
    if side.environment is Environment.PRODUCTION:
        # The message is not approved before its review ends, after a second.
        refuse(4030017, "configure_default_message", YEARLY, "en-US", DefaultConfigurationRequest(text))
    side.call("delete_message", text)
    side.call("delete_image", image)
    refuse(4040021, "get_realtime_url")
    refuse(4040021, "delete_realtime_url")
    refuse(4000215, "configure_realtime_url", RealtimeUrlRequest("http://example.com"))
    refuse(4040018, "get_performance_test_results", str(uuid.uuid4()))
    refuse(4000212, "get_performance_test_results", "abc")
    transaction = side.transactions("SUBSCRIBED/INITIAL_BUY")[0].originalTransactionId
    refuse(4040021 if side.environment is Environment.SANDBOX else 4000211, "initiate_performance_test",
           PerformanceTestRequest(transaction))


def exhaust_the_limit(side):
    """Uses the rest of the hourly limit, then makes one more call. Earlier successful calls count, too."""
    for _ in range(LOOKUPS_AN_HOUR - side.completed["look_up_order_id"]):
        side.call("look_up_order_id", "MAAAAAAAAA")
    side.refuse(429, 4290000, "look_up_order_id", "MAAAAAAAAA")
